#pragma once
// How far the operands of a library's product are aligned: kernels for the newest instructions take
// whole vectors only.
#include <algorithm>
#include <cstdint>

#include "model/kernels/gemm.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::gemm {

inline constexpr std::int64_t kVectorBytes = 16;  ///< the widest copy of a thread

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
/// Of B, whose rows are of n or of k elements: the worse of both.
inline std::int64_t b_vector(const Problem& p) {
  return std::min(a_vector(p), vector_elements(p[kN], p.dtype));
}

inline bool is_aligned(const Problem& p) {
  return b_vector(p) * element_bytes(p.dtype) == kVectorBytes;
}

}  // namespace roofcast::gemm
