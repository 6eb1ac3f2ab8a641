#pragma once
#include <cstddef>
#include <cstdint>

#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

/// C[m,n] = A[m,k] · B[k,n], all row-major. Positions of the values in Problem; a variant's
/// parameter table is a prefix of these.
enum Parameter : std::size_t { kM, kN, kK, kTileM, kTileN, kTileK, kThreadM, kThreadN };

inline constexpr std::int64_t kVectorBytes = 16;  ///< the widest copy of a thread
inline constexpr std::int64_t kPartBytes = 4;     ///< of an fp32 sum of a part of k

extern const KernelFamily kFamily;

}  // namespace roofcast::gemm
