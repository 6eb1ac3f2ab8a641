#pragma once
#include "model/types/gpu.hpp"
#include "validation/calibration/measurements.hpp"

namespace roofcast::validation {

/// Clocks are read to a microsecond or so: a rate may come out that much above its peak.
inline constexpr double kPeakTolerance = 0.01;

/// Takes the values out of the curves that no such device can have measured, more than
/// kPeakTolerance above a peak of its datasheet, and lists them in `refused` with the peak. A curve
/// that is left without a value goes whole.
void refuse_impossible(Measurements& measurements, const Gpu& gpu);

}  // namespace roofcast::validation
