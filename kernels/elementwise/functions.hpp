#pragma once
// Internal to kernels/elementwise/: one function each, .fused and .unfused.
#include <vector>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::elementwise {

std::vector<KernelEntry> relu();
std::vector<KernelEntry> gelu();
std::vector<KernelEntry> elu();
std::vector<KernelEntry> sincos();
std::vector<KernelEntry> fma();

}  // namespace roofcast::cuda::elementwise
