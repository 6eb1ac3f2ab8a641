#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::expr {

/// elementwise.expr, .fused and .unfused: compiled at run time.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::expr
