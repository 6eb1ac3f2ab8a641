#pragma once
// Tensor maps, which describe matrices to TMA. The runtime looks up the function that encodes them,
// so that nothing links the driver's library, which machines without a GPU lack.
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace roofcast::cuda::gemm {

/// Row-major matrices, one after the other, and the box of one of them that one copy moves. The
/// swizzle is as wide as the box's rows. Address and rows are multiples of 16 bytes; a box
/// has at most 256 rows. Elements beyond the edges of the matrix are read as zeros and not written.
struct BoxedMatrices {
  CUtensorMapDataType type;
  int size;  ///< bytes of an element
  const void* data;
  std::int64_t row;  ///< elements from row to row
  int rows, columns;
  int box_rows;
  int count;            ///< number of matrices
  std::int64_t stride;  ///< elements from matrix to matrix
};

/// A map of rank 3: column, row, matrix. `box_bytes` is the bytes of a row of the box, 128 or 64.
/// Throws CudaError if the driver refuses.
CUtensorMap tensor_map(const BoxedMatrices&, int box_bytes = 128);
/// The type of elements in a tensor map; int8 and fp8 are bytes.
template <class Element>
constexpr CUtensorMapDataType map_type() {
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if constexpr (std::is_same_v<Element, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if constexpr (std::is_same_v<Element, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

}  // namespace roofcast::cuda::gemm
