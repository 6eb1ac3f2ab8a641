#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::recompute {

/// recompute.stored and recompute.recomputed.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::recompute
