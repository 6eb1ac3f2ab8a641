#include "validation/profiles/csv_numbers.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "validation/runs/numbers.hpp"

namespace roofcast::validation {
namespace {

constexpr std::size_t kGroup = 3;  // digits

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether the only mark in a number must be the decimal mark: it cannot separate groups, which
/// have three digits and of which the first is not "0".
bool must_be_decimal(std::string_view text, std::size_t mark) {
  const auto* end = std::find_if_not(text.begin() + mark + 1, text.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - (text.begin() + mark + 1));
  const std::string_view whole = text.substr(0, mark);
  return digits != kGroup || whole == "0" || whole == "-0" || whole.empty() ||
         whole.size() > kGroup + 1;
}

double scale_of_part(std::string_view unit) {
  struct Named {
    std::string_view name;
    double scale;
  };
  constexpr std::array kExact = {Named{"ns", 1e-9}, Named{"us", 1e-6},      Named{"ms", 1e-3},
                                 Named{"%", 0.01},  Named{"msecond", 1e-3}, Named{"mhz", 1e6}};
  for (const Named& one : kExact) {
    if (unit == one.name) return one.scale;
  }
  constexpr std::array<std::string_view, 6> kBases = {"second", "byte", "hz", "cycle", "inst", "B"};
  for (const std::string_view base : kBases) {
    if (unit.size() != base.size() + 1 || !unit.ends_with(base)) continue;
    switch (unit.front()) {
      case 'n':
        return 1e-9;
      case 'u':
        return 1e-6;
      case 'm':
        return 1e-3;
      case 'K':
      case 'k':
        return 1e3;
      case 'M':
        return 1e6;
      case 'G':
        return 1e9;
      case 'T':
        return 1e12;
      default:
        return 1;
    }
  }
  return 1;
}

}  // namespace

void NumberStyle::see(std::string_view text) {
  const std::size_t point = text.rfind('.'), comma = text.rfind(',');
  const bool has_point = point != text.npos, has_comma = comma != text.npos;
  if (!std::all_of(text.begin(), text.end(), [](char c) {
        return is_digit(c) || c == '.' || c == ',' || c == '-' || c == ' ' || c == '\'' ||
               static_cast<unsigned char>(c) >= 0x80;
      })) {
    return;
  }
  if (has_point && has_comma) {
    (point > comma ? point_ : comma_) = true;
  } else if (has_point) {
    if (text.find('.') != point) {
      comma_ = true;  // points separate groups
    } else if (must_be_decimal(text, point)) {
      point_ = true;
    }
  } else if (has_comma) {
    if (text.find(',') != comma) {
      point_ = true;
    } else if (must_be_decimal(text, comma)) {
      comma_ = true;
    }
  }
}

std::optional<char> NumberStyle::decimal() const {
  if (point_ && comma_) return std::nullopt;
  return comma_ ? ',' : '.';
}

std::optional<double> number_with(std::string_view text, char decimal) {
  std::string plain;
  for (const char c : text) {
    if (c == decimal) {
      plain.push_back('.');
    } else if (is_digit(c) || c == '-' || c == '+' || c == 'e' || c == 'E') {
      plain.push_back(c);
    } else if (c != '.' && c != ',' && c != ' ' && c != '\'' &&
               static_cast<unsigned char>(c) < 0x80) {
      return std::nullopt;  // bytes from 0x80 on may be a narrow blank
    }
  }
  return number_of<double>(plain);
}

bool is_unit_of_time(std::string_view unit) {
  constexpr std::array<std::string_view, 8> kUnits = {"ns",      "us",      "ms",      "s",
                                                      "nsecond", "usecond", "msecond", "second"};
  return std::find(kUnits.begin(), kUnits.end(), unit) != kUnits.end();
}

double scale_of_unit(std::string_view unit) {
  const std::size_t slash = unit.find('/');
  if (slash == unit.npos) return scale_of_part(unit);
  return scale_of_part(unit.substr(0, slash)) / scale_of_part(unit.substr(slash + 1));
}

}  // namespace roofcast::validation
