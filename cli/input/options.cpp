#include "cli/input/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/types/did_you_mean.hpp"

namespace roofcast::cli {

std::string long_name(const Option& option) {
  return option.name.substr(0, option.name.find(','));
}

std::string letter(const Option& option) {
  const auto comma = option.name.find(',');
  return comma == std::string::npos ? std::string() : option.name.substr(comma + 1);
}

std::optional<std::string> Options::find(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

std::string Options::get(std::string_view name, std::string_view fallback) const {
  return find(name).value_or(std::string(fallback));
}

std::vector<std::string> Options::all(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

void Options::add(const std::string& name, std::vector<std::string> values) {
  values_[name] = std::move(values);
}

std::vector<Option> joined(std::initializer_list<std::vector<Option>> tables) {
  std::vector<Option> all;
  for (const std::vector<Option>& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

bool wants_help(const Arguments& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

std::string did_you_mean(std::string_view typo, std::span<const std::string_view> known) {
  const std::string_view nearest = closest(typo, known);
  return nearest.empty() ? std::string() : fmt::format(" Did you mean '{}'?", nearest);
}

std::string_view one_of(std::string_view what, std::string_view text,
                        std::span<const std::string_view> known) {
  return known[place_of(what, text, known)];
}

std::size_t place_of(std::string_view what, std::string_view text,
                     std::span<const std::string_view> known) {
  const auto found = std::find(known.begin(), known.end(), text);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  throw UsageError("{} is one of {}, not '{}'.{}", what, fmt::join(known, ", "), text,
                   did_you_mean(text, known));
}

std::string_view read_format(const Options& options,
                             std::initializer_list<std::string_view> formats) {
  const std::span known(formats.begin(), formats.size());
  if (const auto format = options.find("format")) return one_of("--format", *format, known);
  const std::string output = options.get("output", "");
  const auto named = std::find_if(known.begin(), known.end(), [&](std::string_view format) {
    return output.ends_with(fmt::format(".{}", format));
  });
  return named != known.end() ? *named : known.front();
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> distinct(std::string_view what, std::vector<std::string> words) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    // An empty word is refused where it is looked up.
    if (word->empty() || std::find(words.begin(), word, *word) == word) continue;
    throw UsageError("{} names '{}' twice: name it once", what, *word);
  }
  return words;
}

}  // namespace roofcast::cli
