#pragma once
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"

namespace roofcast {

/// Lower bound, in seconds, of the forecast of the candidate's plan: its launch costs, and its
/// rounds of blocks with the least queueing. 0 where no clock of the device is known.
double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
