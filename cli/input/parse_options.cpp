// Separate from options.cpp, which a shared library contains too: Boost's archive links only into
// programs.
#include "cli/input/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <boost/program_options.hpp>
#include <sstream>

namespace roofcast::cli {
namespace {
namespace po = boost::program_options;

constexpr unsigned kHelpColumns = 100;

po::options_description describe(std::span<const Option> options) {
  po::options_description description("Options", kHelpColumns, kHelpColumns / 2);
  for (const Option& option : options) {
    if (option.value_name.empty()) {
      description.add_options()(option.name.c_str(), option.meaning.c_str());
    } else {
      description.add_options()(
          option.name.c_str(),
          po::value<std::vector<std::string>>()->composing()->value_name(option.value_name),
          option.meaning.c_str());
    }
  }
  return description;
}

[[noreturn]] void throw_unknown(const std::string& typed, std::span<const Option> known) {
  std::vector<std::string> spelled;
  for (const Option& option : known) spelled.push_back(fmt::format("--{}", long_name(option)));
  const std::vector<std::string_view> names(spelled.begin(), spelled.end());
  throw UsageError("there is no option '{}'.{}", typed, did_you_mean(typed, names));
}

const Option* find_option(std::string_view typed, std::span<const Option> known) {
  const bool is_long = typed.starts_with("--");
  const std::string_view bare = is_long ? typed.substr(2, typed.find('=') - 2) : typed.substr(1, 1);
  for (const Option& option : known) {
    if (bare == (is_long ? long_name(option) : letter(option))) return &option;
  }
  return nullptr;
}

/// Whether the argument, an option, takes the next one as its value; an unknown one does.
bool awaits_value(const std::string& argument, const Option* option) {
  const bool is_long = argument.starts_with("--");
  const bool attached = is_long ? argument.find('=') != std::string::npos : argument.size() > 2;
  return !attached && (option == nullptr || !option->value_name.empty());
}

/// Refuses an option in the place of a value: "--m --n 512".
void refuse_missing_values(const Arguments& arguments, std::span<const Option> known) {
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (!arguments[i].starts_with('-')) continue;
    if (!awaits_value(arguments[i], find_option(arguments[i], known))) continue;
    const std::string& next = arguments[++i];
    if (next.starts_with("--") && find_option(next, known) != nullptr) {
      throw UsageError("the required argument for option '{}' is missing", arguments[i - 1]);
    }
  }
}

}  // namespace

SplitArguments split_words(const Arguments& arguments, std::span<const Option> known) {
  SplitArguments split;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      split.words.insert(split.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      split.words.push_back(argument);
      continue;
    }
    split.options.push_back(argument);
    const bool followed = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    if (followed && awaits_value(argument, find_option(argument, known))) {
      split.options.push_back(arguments[++i]);
    }
  }
  return split;
}

Options parse_options(const Arguments& arguments, std::span<const Option> known) {
  refuse_missing_values(arguments, known);
  const po::options_description description = describe(known);
  const po::positional_options_description no_words;
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments)
                  .options(description)
                  .positional(no_words)
                  .style(style)
                  .run(),
              values);
  } catch (const po::unknown_option& error) {
    throw_unknown(error.get_option_name(), known);
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError("a word too many stands among the options");
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
  Options options;
  for (const Option& option : known) {
    const std::string name = long_name(option);
    if (values.count(name) == 0) continue;
    if (option.value_name.empty()) {
      options.add(name, {});
      continue;
    }
    auto given = values[name].as<std::vector<std::string>>();
    // An empty value, as of --overlay "$UNSET", is taken for a mistake.
    if (std::find(given.begin(), given.end(), "") != given.end()) {
      throw UsageError("--{} is empty: give {} or leave it out", name, option.value_name);
    }
    if (given.size() > 1 && !option.repeatable) {
      throw UsageError("--{} is given {} times; it takes one value", name, given.size());
    }
    options.add(name, std::move(given));
  }
  return options;
}

std::string help_text(const Manual& manual) {
  std::ostringstream listed;
  listed << describe(manual.options);
  // Boost leaves the space at which it breaks a line.
  return fmt::format("Examples:\n{}\nUsage: {}\n\n{}\n\n{}", manual.examples, manual.usage,
                     manual.about, boost::replace_all_copy(listed.str(), " \n", "\n"));
}

}  // namespace roofcast::cli
