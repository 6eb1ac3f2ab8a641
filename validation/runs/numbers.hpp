#pragma once
// Reads numbers from text.
#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace roofcast::validation {

/// All of `text` as a decimal number: 4096, for floating-point types also -0.5 and 1e8. Nothing for
/// other text (true, inf, 0x10, 4k) and for numbers that Number cannot hold.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::floating_point<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

}  // namespace roofcast::validation
