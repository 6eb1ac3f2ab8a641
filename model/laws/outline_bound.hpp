#pragma once
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"

namespace roofcast {

/// Seconds that no forecast of the candidate's plan stays below: what its launches cost, and its
/// rounds of blocks if nothing ever waited. 0 where no clock of the device is known.
double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
