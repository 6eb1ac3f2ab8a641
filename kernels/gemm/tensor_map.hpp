#pragma once
// Tensor maps: how the copy engine sees a matrix. Through the runtime, so that nothing links the
// driver's library, which machines without a GPU lack.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace roofcast::cuda::gemm {

/// A row-major matrix and the box that one copy moves, swizzled by 128 bytes. Address and rows are
/// multiples of 16 bytes; a box has 128 bytes of a row, and at most 256 rows. Elements beyond the
/// edges are read as zeros and not written.
struct BoxedMatrix {
  CUtensorMapDataType type;
  int size;  ///< of an element, bytes
  const void* data;
  std::int64_t row;  ///< elements from row to row
  int rows, columns;
  int box_rows;
};

/// So many such matrices, one after the other, and boxes of one of them: nothing of the next is read
/// beyond the edge of a matrix.
struct BoxedMatrices {
  BoxedMatrix each;
  int count;
  std::int64_t stride;  ///< elements from matrix to matrix
};

/// Throw CudaError if the driver refuses.
CUtensorMap tensor_map(const BoxedMatrix&);
CUtensorMap tensor_map(const BoxedMatrices&);

}  // namespace roofcast::cuda::gemm
