#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::softmax {

/// softmax.three_pass, online, registers, cluster.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::softmax
