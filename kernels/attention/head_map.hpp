#pragma once
// Tensor maps of [heads, rows, head_dim]: a box has rows of one head, so elements beyond the last
// row of a head, or beyond the head dim, are read as zeros and not written.
#include <cstdint>

#include "kernels/gemm/tensor_map.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cuda::attention {

/// Boxes of box_rows × 128 bytes, swizzled, of a dense matrix of a 2-byte type. The address is a
/// multiple of 16 bytes, head_dim of 8 elements. Throws CudaError if the driver refuses.
inline CUtensorMap head_map(DType type, const void* data, std::int64_t heads, std::int64_t rows,
                            std::int64_t head_dim, int box_rows) {
  const auto kind =
      type == DType::fp16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  return gemm::tensor_map({.type = kind,
                           .size = 2,
                           .data = data,
                           .row = head_dim,
                           .rows = static_cast<int>(rows),
                           .columns = static_cast<int>(head_dim),
                           .box_rows = box_rows,
                           .count = static_cast<int>(heads),
                           .stride = rows * head_dim});
}

}  // namespace roofcast::cuda::attention
