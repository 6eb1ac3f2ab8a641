#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::transpose {

/// Positions of the values in Problem.
enum Parameter : std::size_t { kRows, kColumns };

/// The algorithm; the CUDA kernels are instantiated with these numbers.
enum class Way : unsigned char { naive, tiled, padded, swizzled };

/// Element by element: a block of 32 lanes by 8 warps moves a tile of 32 × 32.
inline constexpr std::int64_t kLanes = 32;
inline constexpr std::int64_t kWarps = 8;

/// In patches of k × k elements, k in 16 bytes: a block of 256 threads moves 16 × 16 patches.
inline constexpr std::int64_t kPatches = 16;
constexpr std::int64_t patch(DType dtype) {
  return 16 / element_bytes(dtype);
}
/// Whether both extents are multiples of k, as the kernels with patches need.
constexpr bool in_patches(const Problem& problem) {
  return problem[kRows] % patch(problem.dtype) == 0 &&
         problem[kColumns] % patch(problem.dtype) == 0;
}

extern const KernelFamily kFamily;

}  // namespace roofcast::transpose
