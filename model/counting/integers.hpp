#pragma once
#include <cstdint>

namespace roofcast {

constexpr double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

/// The smallest power of two that is at least `value`.
constexpr std::int64_t power_of_two_from(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}
constexpr bool is_power_of_two(std::int64_t value) {
  return power_of_two_from(value) == value;
}

}  // namespace roofcast
