#include "cli/input/numbers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/exit_code.hpp"
#include "model/types/problem.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {

std::optional<std::int64_t> whole_of(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;
  if (!(std::abs(value) <= kExactIntegers) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::int64_t parse_whole(std::string_view what, std::string_view text) {
  if (const auto exact = validation::number_of<std::int64_t>(text)) return *exact;
  const auto number = validation::number_of<double>(text);
  if (!number || *number != std::trunc(*number)) {
    throw UsageError(
        fmt::format("{} takes a whole number such as 4096 or 1e6, not '{}'", what, text));
  }
  if (const auto whole = whole_of(*number)) return *whole;
  throw InputError(fmt::format("{} {} is beyond any size: give a smaller number", what, text));
}

double parse_real(std::string_view what, std::string_view text) {
  if (const auto value = validation::number_of<double>(text)) return *value;
  throw UsageError(fmt::format("{} takes a number such as 1.755e9, not '{}'", what, text));
}

double parse_share(std::string_view what, std::string_view text) {
  const bool of_hundred = text.ends_with('%');
  const auto value =
      validation::number_of<double>(text.substr(0, text.size() - (of_hundred ? 1 : 0)));
  if (value) return of_hundred ? *value / 100 : *value;
  throw UsageError(fmt::format("{} takes a share such as 5% or 0.05, not '{}'", what, text));
}

}  // namespace roofcast::cli
