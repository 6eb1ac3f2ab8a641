#include "cli/input/numbers.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "cli/exit_code.hpp"
#include "model/types/problem.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {

std::int64_t parse_whole(std::string_view what, std::string_view text) {
  if (const auto exact = validation::number_of<std::int64_t>(text)) return *exact;
  const auto number = validation::number_of<double>(text);
  if (!number || *number != std::trunc(*number)) {
    throw UsageError("{} takes a whole number such as 4096 or 1e6, not '{}'", what, text);
  }
  if (const auto whole = whole_of(*number)) return *whole;
  throw InputError(fmt::format("{} {} is beyond any size: give a smaller number", what, text));
}

double parse_real(std::string_view what, std::string_view text) {
  if (const auto value = validation::number_of<double>(text)) return *value;
  throw UsageError("{} takes a number such as 0.5 or 1.755e9, not '{}'", what, text);
}

double expect_clock(std::string_view what, double hz) {
  constexpr double kLeast = 1e6;
  constexpr double kMost = 1e11;
  if (hz >= kLeast && hz <= kMost) return hz;
  throw InputError(fmt::format(
      "{} is {:g} Hz: give a clock in Hz from {:g} to {:g}, such as 1.755e9 for 1755 MHz", what, hz,
      kLeast, kMost));
}

double expect_worked(std::string_view what, double seconds) {
  if (seconds >= 0) return seconds;
  throw InputError(fmt::format("{} is {:g}: give seconds of at least 0, such as 1", what, seconds));
}

std::optional<double> number_with_unit(std::string_view text, std::span<const Unit> units) {
  for (const auto& [name, factor] : units) {
    if (!text.ends_with(name)) continue;
    const auto number = validation::number_of<double>(text.substr(0, text.size() - name.size()));
    if (number) return *number * factor;
  }
  return std::nullopt;
}

double parse_share(std::string_view what, std::string_view text) {
  const bool of_hundred = text.ends_with('%');
  const auto value =
      validation::number_of<double>(text.substr(0, text.size() - (of_hundred ? 1 : 0)));
  if (value) return of_hundred ? *value / 100 : *value;
  throw UsageError("{} takes a share such as 5% or 0.05, not '{}'", what, text);
}

double parse_bytes(std::string_view what, std::string_view text) {
  constexpr std::array units = {
      Unit{"KiB", 1024.0}, Unit{"MiB", 1048576.0}, Unit{"GiB", 1073741824.0},
      Unit{"kB", 1e3},     Unit{"KB", 1e3},        Unit{"MB", 1e6},
      Unit{"GB", 1e9},     Unit{"B", 1},           Unit{"", 1}};
  if (const auto bytes = number_with_unit(text, units)) return *bytes;
  throw UsageError("{} takes bytes such as 65536, 64KB or 64MiB, not '{}'", what, text);
}

}  // namespace roofcast::cli
