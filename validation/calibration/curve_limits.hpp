#pragma once
#include "model/types/gpu.hpp"
#include "validation/calibration/measurements.hpp"

namespace roofcast::validation {

/// Relative share by which a measured rate may exceed its peak: timers resolve about a microsecond.
inline constexpr double kPeakTolerance = 0.01;

/// Moves from the curves to `refused` every value that is not finite or exceeds the datasheet's
/// peak by more than kPeakTolerance, with the reason. Curves left without a value are removed.
void refuse_impossible(Measurements& measurements, const Gpu& gpu);

}  // namespace roofcast::validation
