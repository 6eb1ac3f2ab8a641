#pragma once
// The quantities that a chart of a sweep can show, forecast and measured.
#include <optional>
#include <span>
#include <string_view>

#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::reports {

struct Quantity {
  std::string_view name;   ///< as on the command line: "dram_bandwidth"
  std::string_view title;  ///< title of the axis: "DRAM bandwidth"
  std::string_view unit;   ///< "B/s"; "%" for a share, "×" for a factor
  /// The quantity of a forecast if its launch takes `seconds`; not finite if undefined.
  double (*value)(const Prediction& prediction, const Gpu& gpu, double seconds);
  /// Whether it depends on the time; if so, it has an interval.
  bool of_time;
  /// The quantity from hardware counters; null: it is `value` at the measured median time.
  std::optional<double> (*counted)(const validation::Case& measured, const Prediction& prediction);
};

/// time, bandwidth, dram_bandwidth, dram_bytes, l2_bytes, l1_sectors, waste, rate, occupancy,
/// fraction_of_limit.
std::span<const Quantity> quantities();

/// The quantity at the expected time; not finite if it depends on a time that is not forecast.
double predicted(const Quantity& quantity, const Prediction& prediction, const Gpu& gpu);

/// The quantity of a measured case; none if its counters were not read.
std::optional<double> measured(const Quantity& quantity, const validation::Case& item,
                               const Prediction& prediction, const Gpu& gpu);

}  // namespace roofcast::reports
