#pragma once
// What a forecast is asked to fulfil: time<=50us, rate>=500TFLOP/s, bound=dram, bound!=dram.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/types/prediction.hpp"

namespace roofcast::cli {

struct Condition {
  enum class Quantity : unsigned char {
    time,
    limit,
    fraction_of_limit,
    rate,       ///< of useful FLOPs
    bandwidth,  ///< of DRAM
    bound
  };
  std::string text;  ///< as given
  Quantity quantity = Quantity::time;
  bool at_least = false;               ///< >=, else <=; of a bound neither
  bool negated = false;                ///< of a bound: !=
  double number = 0;                   ///< s, FLOP/s, B/s or a share
  Resource resource = Resource::dram;  ///< of a bound
};

/// "µs": so many of the SI unit.
struct Unit {
  std::string_view name;
  double factor;
};
/// "50us" of such units. Throws UsageError that names them for other text.
double parse_quantity(std::string_view text, std::span<const Unit> units);

inline constexpr std::array kTimeUnits = {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"µs", 1e-6},
                                          Unit{"ms", 1e-3}, Unit{"s", 1}};

/// Throws UsageError that names the quantities, units or resources for other text.
Condition parse_condition(std::string_view text);

/// Whether the forecast fulfils it; of a family alone only `limit` is known. Throws InputError
/// where the forecast has no such quantity.
bool holds(const Condition& condition, const Prediction& prediction);

}  // namespace roofcast::cli
