#pragma once
// The launch of gemm.skinny through a ring of shared memory, for its plan.
#include "model/kernels/gemm_tensor_plan.hpp"

namespace roofcast::gemm::tensor {

/// The uses count the operands as they are read, of all matrices.
Plan skinny_ring_launch(const Problem&, const SkinnyRing&, const ArrayUse& weights,
                        const ArrayUse& tokens, const Gpu&);

}  // namespace roofcast::gemm::tensor
