#pragma once
// How far the operands of a library's product are aligned: kernels for the newest instructions take
// whole vectors only.
#include <algorithm>
#include <cstdint>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::gemm {

/// Elements of the widest copy to which rows of so many elements are aligned.
inline std::int64_t vector_elements(std::int64_t row, DType type) {
  std::int64_t vector = kVectorBytes / element_bytes(type);
  while (row % vector != 0) vector /= 2;
  return vector;
}

/// Of A, whose rows are of k elements.
inline std::int64_t a_vector(const Problem& p) {
  return vector_elements(p[kK], p.dtype);
}
/// Of B, whose rows are of n or of k elements: the worse of both. Elements of one column lie together.
inline std::int64_t b_vector(const Problem& p) {
  if (p[kN] == 1) return a_vector(p);
  return std::min(a_vector(p), vector_elements(p[kN], p.dtype));
}

/// Elements of a copy of the kernel that a library takes: there are kernels for 16, for 4 and for 2
/// bytes, for both operands alike (cuBLAS 13, squares of 2049 to 5636 bf16,
/// validation/sweeps/squares.json: rows of 8 bytes take the time of 4; one operand off alignment
/// takes that of both). A product with one column reads A as it lies, whole lines at a time
/// (gemvx, gemv2T; profile of 2026-11-23).
inline std::int64_t library_vector(const Problem& p) {
  constexpr std::int64_t kNarrowBytes = 4;
  const std::int64_t element = element_bytes(p.dtype), bytes = b_vector(p) * element;
  if (bytes == kVectorBytes || p[kN] == 1) return kVectorBytes / element;
  return std::max<std::int64_t>(1, std::min(bytes, kNarrowBytes) / element);
}

inline bool is_aligned(const Problem& p) {
  return b_vector(p) * element_bytes(p.dtype) == kVectorBytes;
}

}  // namespace roofcast::gemm
