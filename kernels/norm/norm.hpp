#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::norm {

/// norm.layernorm, rmsnorm.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::norm
