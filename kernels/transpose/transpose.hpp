#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::transpose {

/// transpose.naive, tiled, padded.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::transpose
