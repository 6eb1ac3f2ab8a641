#include "model/types/quantity_text.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace roofcast {
namespace {

constexpr std::string_view kNoNumber = "–";

std::string formatted(const char* format, int precision, double value) {
  std::array<char, 400> buffer{};  // the largest double has 309 digits before the point
  const int size = std::snprintf(buffer.data(), buffer.size(), format, precision, value);
  return {buffer.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string figure_text(double value, int digits) {
  // Outside this range exponents read better than zeros, and integers lose exactness.
  constexpr double kLeast = 1e-3;
  constexpr double kMost = 1e15;
  if (!std::isfinite(value)) return std::string(kNoNumber);
  const std::string sign = value < 0 ? "-" : "";
  value = std::abs(value);
  if (value != 0 && (value < kLeast || value >= kMost)) {
    return sign + formatted("%.*g", digits, value);
  }
  // Values from here on round to `digits` digits before the point: 99.95 for three.
  double enough = 1;
  for (int i = 1; i < digits; ++i) enough *= 10;
  enough -= 0.05;
  std::size_t decimals = 0;
  while (value != 0 && value < enough) {
    value *= 10;
    ++decimals;
  }
  std::string text = std::to_string(std::llround(value));
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  const std::size_t point = text.size() - decimals;
  while (text.size() > point && text.back() == '0') text.pop_back();
  if (text.size() > point) text.insert(point, 1, '.');
  return sign + text;
}

std::string si_text(double value, std::string_view unit, int digits) {
  struct Prefix {
    double scale;
    std::string_view sign;
  };
  constexpr std::array prefixes = {Prefix{1e18, "E"}, Prefix{1e15, "P"}, Prefix{1e12, "T"},
                                   Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"},
                                   Prefix{1, ""},     Prefix{1e-3, "m"}, Prefix{1e-6, "µ"},
                                   Prefix{1e-9, "n"}, Prefix{1e-12, "p"}};
  if (!std::isfinite(value)) return std::string(kNoNumber);
  // Half a unit of the last digit below a prefix rounds up into it.
  const double rounding = 1 - 0.5 * std::pow(10.0, -digits);
  Prefix chosen = {1, ""};
  for (const Prefix& prefix : prefixes) {
    if (std::abs(value) < prefix.scale * rounding) continue;
    chosen = prefix;
    break;
  }
  std::string text = figure_text(value / chosen.scale, digits);
  if (!chosen.sign.empty() || !unit.empty()) text.append(" ").append(chosen.sign).append(unit);
  return text;
}

std::string percent(double share) {
  if (!std::isfinite(share)) return std::string(kNoNumber);
  return formatted("%.*f", 1, 100 * share) + '%';
}

std::string signed_percent(double share) {
  std::string digits = percent(std::abs(share));
  if (!std::isfinite(share) || digits == "0.0%") return digits;
  return (share < 0 ? "−" : "+") + digits;
}

}  // namespace roofcast
