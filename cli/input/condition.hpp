#pragma once
// A condition on a forecast: time<=50us, rate>=500TFLOP/s, bound=dram, bound!=dram.
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "cli/input/numbers.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::cli {

struct Condition {
  std::string text;                              ///< as given
  double (*value)(const Prediction&) = nullptr;  ///< of the quantity; null: about the bound
  bool at_least = false;                         ///< the sign is >=, else <=; unused for a bound
  bool negated = false;                          ///< the sign of a bound is !=, else =
  double number = 0;                   ///< limit of the quantity: s, FLOP/s, B/s or a share
  Resource resource = Resource::dram;  ///< the resource of a bound
};

/// A positive number with one of the units, "50us", in the SI unit. UsageError, with the units, for
/// other text.
double parse_quantity(std::string_view text, std::span<const Unit> units);

inline constexpr std::array kTimeUnits = {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"µs", 1e-6},
                                          Unit{"ms", 1e-3}, Unit{"s", 1}};

/// Reads a condition. UsageError, with the quantities, units or resources, for other text.
Condition parse_condition(std::string_view text);

/// Whether the forecast fulfils the condition. Throws InputError where it has no expected time (a
/// family alone) and the condition is not about `limit`.
bool holds(const Condition& condition, const Prediction& prediction);

}  // namespace roofcast::cli
