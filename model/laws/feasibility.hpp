#pragma once
#include <optional>
#include <span>
#include <string>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// The occupancy of the plan's launch. Throws InputError where the GPU cannot run it: it lacks an
/// instruction or clusters of that size, the grid is too large, or a block does not fit an SM.
Occupancy checked_occupancy(const Plan& plan, const Gpu& gpu);

/// Bytes of all arrays of these launches: what has to be allocated if none takes another's place.
double memory_bytes(std::span<const Launched> launches);

/// A note where the arrays of the program do not fit the device's memory all at once.
std::optional<std::string> memory_note(const LaunchSequence& program, const Gpu& gpu);

}  // namespace roofcast
