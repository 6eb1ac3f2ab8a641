#pragma once
// Tensor maps of [heads, rows, head_dim]: a box has rows of one head, so what lies beyond the last
// row of a head is read as zeros and not written, as what lies beyond the head dim.
#include <cuda.h>

#include <cstdint>

namespace roofcast::cuda::attention::flash3_backward {

inline constexpr int kBoxRows = 64;
inline constexpr int kBoxColumns = 64;  ///< of 2 bytes: a line of the swizzle

/// Dense, of a 2-byte type. The address is a multiple of 16 bytes, head_dim of 8 elements.
struct Heads {
  CUtensorMapDataType type;
  const void* data;
  std::int64_t heads, rows, head_dim;
  int box_rows = kBoxRows;
};

/// Boxes of box_rows × kBoxColumns, swizzled by 128 bytes. Throws CudaError if the driver refuses.
CUtensorMap tensor_map(const Heads&);

}  // namespace roofcast::cuda::attention::flash3_backward
