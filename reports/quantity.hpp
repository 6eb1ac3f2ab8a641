#pragma once
// What a chart of a sweep can show: a number of a forecast, and the same number measured.
#include <optional>
#include <span>
#include <string_view>

#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::reports {

struct Quantity {
  std::string_view name;   ///< as on the command line: "dram_bandwidth"
  std::string_view title;  ///< of the axis: "DRAM bandwidth"
  std::string_view unit;   ///< "B/s"; "%" for a share, "×" for a factor
  /// Of a forecast whose launch takes so many seconds. Not finite where it is not defined.
  double (*value)(const Prediction& prediction, const Gpu& gpu, double seconds);
  /// Whether the time changes it: such a quantity has an interval.
  bool of_time;
  /// From what was counted; none: `value` at the measured median.
  std::optional<double> (*counted)(const validation::Case& measured, const Prediction& prediction);
};

/// time, bandwidth, dram_bandwidth, dram_bytes, l2_bytes, l1_sectors, waste, rate, occupancy,
/// fraction_of_limit.
std::span<const Quantity> quantities();

/// The quantity of a forecast with a time; not finite without one.
double predicted(const Quantity& quantity, const Prediction& prediction, const Gpu& gpu);

/// The quantity of a measured case; none where it was not counted.
std::optional<double> measured(const Quantity& quantity, const validation::Case& item,
                               const Prediction& prediction, const Gpu& gpu);

}  // namespace roofcast::reports
