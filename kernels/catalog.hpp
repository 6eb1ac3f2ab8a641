#pragma once
#include <span>
#include <string_view>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

/// The kernels of this project, family by family in the order of their tables.
std::span<const KernelEntry> catalog();

/// The library baselines of this build.
std::span<const KernelEntry> baselines();

/// The kernel or baseline of that name, or nullptr.
const KernelEntry* find(std::string_view name);

/// The library baseline that solves the same problem as that kernel, or nullptr.
const KernelEntry* baseline(std::string_view kernel_name);

}  // namespace roofcast::cuda
