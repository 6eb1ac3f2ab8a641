#pragma once
// The SIMT ladder of the matrix product in fp32, from naive to vectorized.
#include <array>

#include "model/kernels/gemm/gemm.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
inline constexpr std::array kShape = {
    roofcast::Parameter{"m", "rows of A and C (elements)", 1, kMaxExtent, std::nullopt},
    roofcast::Parameter{"n", "columns of B and C (elements)", 1, kMaxExtent, std::nullopt},
    roofcast::Parameter{"k", "columns of A, rows of B (elements)", 1, kMaxExtent, std::nullopt}};

/// The family's: the ladder, the tensor cores, then the library.
extern const std::array<KernelModel, 10> kVariants;

}  // namespace roofcast::gemm
