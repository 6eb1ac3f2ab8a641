#pragma once
#include <cstddef>

#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

/// C[m,n] = A[m,k] · B[k,n], all row-major. Positions of the values in Problem; a variant's
/// parameter table is a prefix of these.
enum Parameter : std::size_t { kM, kN, kK, kTileM, kTileN, kTileK, kThreadM, kThreadN };

extern const KernelFamily kFamily;

}  // namespace roofcast::gemm
