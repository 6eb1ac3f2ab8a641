#pragma once
// Upper bounds of what a device can measure, from its datasheet.
#include <optional>
#include <string_view>

#include "model/types/gpu.hpp"
#include "validation/calibration/measurements.hpp"

namespace roofcast::validation {

/// Relative share by which a measured rate may exceed its peak: timers resolve about a microsecond.
inline constexpr double kPeakTolerance = 0.01;

/// Upper bound of a measured value, and what sets it.
struct Peak {
  std::optional<double> value;
  std::string_view what;

  bool is_exceeded_by(double measured) const {
    return value && measured > *value * (1 + kPeakTolerance);
  }
};
Peak dram_peak(const Gpu& gpu);
Peak l2_peak(const Gpu& gpu);
Peak clock_peak(const Gpu& gpu);
/// Of a pipe, whose rate is from the datasheet.
Peak pipe_peak(const std::optional<double>& rate);

/// Moves from the curves to `refused` every value that is not finite or exceeds the datasheet's
/// peak by more than kPeakTolerance, with the reason. Curves left without a value are removed.
void refuse_impossible(Measurements& measurements, const Gpu& gpu);

}  // namespace roofcast::validation
