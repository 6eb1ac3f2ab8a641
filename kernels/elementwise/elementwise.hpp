#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::elementwise {

/// elementwise.relu and elementwise.gelu, each .fused and .unfused.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::elementwise
