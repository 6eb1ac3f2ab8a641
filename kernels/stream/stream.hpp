#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::stream {

/// stream.null, copy, scale, add, triad.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::stream
