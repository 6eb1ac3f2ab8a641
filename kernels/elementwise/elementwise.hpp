#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::elementwise {

/// elementwise.relu, gelu, elu, sincos and fma, each .fused and .unfused.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::elementwise
