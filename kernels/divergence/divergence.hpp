#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::divergence {

/// divergence.warp_uniform, k_way and data_dependent.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::divergence
