#pragma once
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"

namespace roofcast {

/// Seconds that no forecast of the candidate's plan stays below: what its launches cost, the pipes
/// of the fullest SM, and the life of its blocks, one after the other in a place, if nothing ever
/// waited. 0 where no clock of the device is known.
double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
