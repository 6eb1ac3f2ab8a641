#pragma once
// Numbers of the command line: validation/runs/numbers.hpp reads them.
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace roofcast::cli {

/// The value as a whole number: 1e8 and 4096.0 are whole. Nothing for a fraction, or beyond 2^53,
/// where doubles skip integers.
inline std::optional<std::int64_t> whole_of(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;
  if (!(std::abs(value) <= kExactIntegers) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

/// A whole number, also as 1e8 or 4096.0. `what` names the option in messages. UsageError for other
/// text, InputError for a number beyond 64 bits, or beyond 2^53 in a form like 1e16.
std::int64_t parse_whole(std::string_view what, std::string_view text);

/// A finite number; UsageError for other text.
double parse_real(std::string_view what, std::string_view text);

/// Returns `hz` if it is a possible clock: 1 MHz to 100 GHz. InputError for any other.
double expect_clock(std::string_view what, double hz);

/// Returns `seconds` if it is a duration, at least 0. InputError for any other.
double expect_worked(std::string_view what, double seconds);

/// A unit's name, "µs", and its factor to the SI unit.
struct Unit {
  std::string_view name;
  double factor;
};

/// A number with one of the units, "50us", in the SI unit; nothing for other text. Of units of
/// which one ends in the other ("ms", "s") the longer stands first.
std::optional<double> number_with_unit(std::string_view text, std::span<const Unit> units);

/// A share, as 5% or 0.05. UsageError for other text.
double parse_share(std::string_view what, std::string_view text);

/// Bytes, as 65536, 64MiB or 64MB. UsageError for other text.
double parse_bytes(std::string_view what, std::string_view text);

}  // namespace roofcast::cli
