#pragma once
// Passes before and after a tensor kernel: copies of operands that it cannot read in place, and the
// reduction of split-K sums.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/kernel.hpp"
#include "kernels/gemm/layout.cuh"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {

/// Row-major matrices of elements of `size` bytes (1, 2 or 4), one after the other, `row` elements
/// from row to row.
struct MatrixView {
  const void* data;
  std::int64_t row;
  int rows, columns, size;
  int count = 1;
};

using roofcast::gemm::tensor::passes::padded_row;

/// Copies matrices to rows of `to_row` elements. Zeros fill a row's last 16 bytes; further padding
/// is not written.
void copy_rows(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t);
Launch copy_rows_launch(const MatrixView& from);
/// Copies the transpose of each of at most kMostBlocksYZ matrices.
void copy_transposed(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t);
Launch copy_transposed_launch(const MatrixView& from);

/// c[i][j] = Σ parts[p][i][j], in the order of p, rounded once to `dtype` (fp32 and tf32: not at
/// all).
void sum_parts(const float* parts, int count, int rows, int columns, void* c, std::int64_t row_c,
               DType dtype, cudaStream_t);
Launch sum_parts_launch(int rows, int columns, DType dtype);

}  // namespace roofcast::cuda::gemm
