#pragma once
// What a forecast is asked to fulfil: time<=50us, rate>=500TFLOP/s, bound=dram, bound!=dram.
#include <optional>
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

/// Throws UsageError that names the quantities, units or resources for other text.
Condition parse_condition(std::string_view text);

/// Whether the forecast fulfils it; of a family alone only `limit` is known. Throws InputError where
/// the forecast has no such quantity.
bool holds(const Condition& condition, const Prediction& prediction);

}  // namespace roofcast::cli
