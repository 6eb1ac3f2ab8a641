#pragma once
// Tensor maps: how the copy engine sees a matrix. Through the runtime, so that nothing links the
// driver's library, which machines without a GPU lack.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace roofcast::cuda::gemm {

/// Row-major matrices, one after the other, and the box of one of them that one copy moves, swizzled
/// by 128 bytes. Address and rows are multiples of 16 bytes; a box has 128 bytes of a row, and at
/// most 256 rows. Elements beyond the edges of the matrix are read as zeros and not written.
struct BoxedMatrices {
  CUtensorMapDataType type;
  int size;  ///< of an element, bytes
  const void* data;
  std::int64_t row;  ///< elements from row to row
  int rows, columns;
  int box_rows;
  int count;            ///< of matrices
  std::int64_t stride;  ///< elements from matrix to matrix
};

/// Of rank 3: column, row, matrix. Throws CudaError if the driver refuses.
CUtensorMap tensor_map(const BoxedMatrices&);

}  // namespace roofcast::cuda::gemm
