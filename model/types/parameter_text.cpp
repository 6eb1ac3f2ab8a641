#include "model/types/parameter_text.hpp"

#include <algorithm>

#include "model/types/did_you_mean.hpp"

namespace roofcast {
namespace {

void set_text(const Parameter& parameter, Problem& problem, std::string_view value) {
  require(value.size() <= Text::kMaxBytes, parameter.name, " has ", value.size(), " bytes: give ",
          allowed_text(parameter));
  const bool has_control_character = std::any_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;  // below the space, and DEL
  });
  require(!has_control_character, parameter.name,
          " has a control character: give a text of one line, without tabs");
  problem.text = Text(value);
}

}  // namespace

std::string_view named_value(const Parameter& parameter, const Problem& problem,
                             std::size_t position) {
  if (parameter.is_text) return problem.text.view();
  const auto value = static_cast<std::size_t>(problem[position]);
  return value < parameter.choices.size() ? parameter.choices[value] : std::string_view();
}

void set_named_value(const Parameter& parameter, Problem& problem, std::size_t position,
                     std::string_view value) {
  if (parameter.is_text) return set_text(parameter, problem, value);
  const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), value);
  if (found == parameter.choices.end()) {
    const std::string_view near = closest(value, parameter.choices);
    throw InputError(message(parameter.name, " is '", value, "': give ", allowed_text(parameter),
                             near.empty() ? "" : message(". Did you mean '", near, "'?")));
  }
  problem[position] = found - parameter.choices.begin();
}

std::string value_text(const Parameter& parameter, const Problem& problem, std::size_t position) {
  if (is_named(parameter)) return std::string(named_value(parameter, problem, position));
  return std::to_string(problem[position]);
}

std::string quoted_value_text(const Parameter& parameter, const Problem& problem,
                              std::size_t position) {
  if (!parameter.is_text) return value_text(parameter, problem, position);
  std::string quoted = "\"";
  for (const char c : problem.text.view()) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string fallback_text(const Parameter& parameter) {
  if (!parameter.fallback || parameter.is_text) return "";
  Problem problem;
  problem[0] = *parameter.fallback;
  return value_text(parameter, problem, 0);
}

std::string allowed_text(const Parameter& parameter) {
  if (parameter.is_text) return message("a text of at most ", Text::kMaxBytes, " bytes");
  if (parameter.choices.empty()) return message(parameter.minimum, " to ", parameter.maximum);
  std::string text;
  for (std::size_t i = 0; i < parameter.choices.size(); ++i) {
    if (i > 0) text += i + 1 == parameter.choices.size() ? " or " : ", ";
    text += parameter.choices[i];
  }
  return text;
}

}  // namespace roofcast
