#pragma once
// Values of a Problem in text and JSON: a number, a choice's name or a text.
#include <cstddef>
#include <string>
#include <string_view>

#include "model/types/problem.hpp"

namespace roofcast {

/// Whether the value is written as a text (a choice's name, or a text itself) and not as a number.
constexpr bool is_named(const Parameter& parameter) {
  return parameter.is_text || !parameter.choices.empty();
}

/// The value at `position` of a parameter that is_named: the choice's name, or the Problem's text.
/// Empty for a choice out of range.
std::string_view named_value(const Parameter& parameter, const Problem& problem,
                             std::size_t position);

/// Sets a choice by its name, or the text. Throws InputError for a name that is none of the choices
/// (they are listed, with the nearest), and for a text that is too long or has control characters.
void set_named_value(const Parameter& parameter, Problem& problem, std::size_t position,
                     std::string_view value);

/// Any value as on the command line: "4096", "backward", "sin(x)^2".
std::string value_text(const Parameter& parameter, const Problem& problem, std::size_t position);

/// As value_text, with a text in double quotes, its quotes and backslashes escaped: for lists.
std::string quoted_value_text(const Parameter& parameter, const Problem& problem,
                              std::size_t position);

/// The value taken when none is given, as value_text; empty if it is required or an empty text.
std::string fallback_text(const Parameter& parameter);

/// The allowed values: "1 to 65536", "forward or backward", "a text of at most 255 bytes".
std::string allowed_text(const Parameter& parameter);

}  // namespace roofcast
