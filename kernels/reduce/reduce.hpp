#pragma once
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::reduce {

/// reduce.row, weighted, global.
std::span<const KernelEntry> entries();

}  // namespace roofcast::cuda::reduce
