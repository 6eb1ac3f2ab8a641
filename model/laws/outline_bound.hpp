#pragma once
#include "model/laws/launching.hpp"
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"

namespace roofcast {

/// Seconds that no forecast of the candidate's plan stays below at that clock: its launches, the
/// pipes of the fullest SM, and the life of its blocks, one after the other in a place, if nothing
/// ever waited.
double least_time_s(const Outline& outline, const LaunchCosts& costs, double clock_hz,
                    const Gpu& gpu);

}  // namespace roofcast
