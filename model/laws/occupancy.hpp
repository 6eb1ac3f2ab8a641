#pragma once
#include "model/types/gpu.hpp"
#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Blocks of this launch that fit one SM at once, by the allocation rules of cuda_occupancy.h with
/// the default carve-out. 0 blocks: the launch is impossible on this device.
Occupancy occupancy(const Launch& launch, const OccupancyRules& rules);

}  // namespace roofcast
