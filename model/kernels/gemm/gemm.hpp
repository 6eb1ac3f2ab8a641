#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

/// C[m,n] = A[m,k] · B[k,n], all row-major. Positions in Problem; a variant takes a prefix of these.
enum Parameter : std::size_t { kM, kN, kK, kTileM, kTileN, kTileK, kThreadM, kThreadN };
inline constexpr std::array kExtents = {kM, kN, kK};

inline constexpr std::int64_t kVectorBytes = 16;  ///< the widest copy of a thread
inline constexpr std::int64_t kPartBytes = 4;     ///< an fp32 partial sum of split-K

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
inline constexpr std::array kShape = {
    roofcast::Parameter{"m", "rows of A and C (elements)", 1, kMaxExtent, std::nullopt},
    roofcast::Parameter{"n", "columns of B and C (elements)", 1, kMaxExtent, std::nullopt},
    roofcast::Parameter{"k", "columns of A, rows of B (elements)", 1, kMaxExtent, std::nullopt}};

extern const KernelFamily kFamily;

}  // namespace roofcast::gemm
