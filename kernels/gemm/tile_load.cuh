#pragma once
// A tile of a row-major matrix, from global to shared memory, word by word: rungs 3 to 5.
#include <cstdint>

namespace roofcast::cuda::gemm {

/// tile[r][c] = matrix[row0 + r][column0 + c], zero outside the matrix. All kThreads threads take
/// part, neighbouring threads on neighbouring columns.
/// Reads bypass L1 (ld.global.cg): shared memory holds what a block needs twice, and the bytes from
/// L2 are then exactly those of the tiles, whatever a neighbouring block reads.
template <int kRows, int kColumns, int kThreads>
__device__ void load_tile(float (&tile)[kRows][kColumns], const float* __restrict__ matrix,
                          int rows, int columns, int row0, int column0, int thread) {
  static_assert(kRows * kColumns % kThreads == 0 || kRows * kColumns < kThreads);
  constexpr int kEach = (kRows * kColumns + kThreads - 1) / kThreads;
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int element = thread + i * kThreads;
    const int r = element / kColumns, c = element % kColumns;
    const bool inside = row0 + r < rows && column0 + c < columns;
    if (kRows * kColumns % kThreads == 0 || element < kRows * kColumns) {
      tile[r][c] = inside ? __ldcg(matrix + std::int64_t{row0 + r} * columns + column0 + c) : 0.0f;
    }
  }
}

}  // namespace roofcast::cuda::gemm
