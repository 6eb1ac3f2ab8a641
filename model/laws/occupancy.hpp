#pragma once
#include <cstdint>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Waves of a grid over a device that holds `capacity` blocks at once (capacity ≥ 1).
/// Source: NVIDIA Deep Learning Performance, Matrix Multiplication Background, "wave quantization".
Waves waves(std::int64_t blocks, std::int64_t capacity);

/// Blocks of this launch that fit one SM at once, by the allocation rules of cuda_occupancy.h with
/// the default carve-out. 0 blocks: the launch is impossible on this device.
Occupancy occupancy(const Launch& launch, const OccupancyRules& rules);

/// The same with the GPU's limits on clusters. Throws InputError if it has no clusters of that
/// size. `gpu` must have occupancy rules.
Occupancy occupancy(const Launch& launch, const Gpu& gpu);

/// The occupancy of the plan's launch. Throws InputError where the GPU cannot run it: it lacks an
/// instruction or clusters of that size, the grid is too large, or a block does not fit an SM.
Occupancy checked_occupancy(const Plan& plan, const Gpu& gpu);

/// Resident blocks of the device. Clusters: Σ over GPCs of at least as many SMs as a cluster has
/// blocks, ⌊SMs · blocks per SM ÷ blocks per cluster⌋, as cudaOccupancyMaxActiveClusters answers.
std::int64_t places(const Launch& launch, const Occupancy& occupancy, const Gpu& gpu);

}  // namespace roofcast
