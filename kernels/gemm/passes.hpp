#pragma once
// What runs before and after a tensor kernel: copies of operands that it cannot read as they are,
// and the sum of what blocks computed for parts of k.
#include <cuda_runtime.h>

#include <cstdint>

#include "model/types/dtype.hpp"

namespace roofcast::cuda::gemm {

/// A row-major matrix of elements of `size` bytes (1, 2 or 4), `row` elements from row to row.
struct MatrixView {
  const void* data;
  std::int64_t row;
  int rows, columns, size;
};

/// Elements of a row in a copy: rows begin at multiples of 128 bytes.
constexpr std::int64_t padded_row(std::int64_t columns, int size) {
  const std::int64_t lines = 128 / size;
  return (columns + lines - 1) / lines * lines;
}

/// Copies a matrix to rows of `to_row` elements; what pads a row is not written.
void copy_rows(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t);
/// The transpose of a matrix.
void copy_transposed(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t);

/// c[i][j] = Σ parts[p][i][j], in the order of p, rounded once to `dtype` (fp32 and tf32: not at
/// all).
void sum_parts(const float* parts, int count, int rows, int columns, void* c, std::int64_t row_c,
               DType dtype, cudaStream_t);

}  // namespace roofcast::cuda::gemm
