#pragma once
#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::access {

KernelEntry strided();
KernelEntry offset();
KernelEntry gather();
KernelEntry row_wise();
KernelEntry column_wise();
KernelEntry shared();

}  // namespace roofcast::cuda::access
