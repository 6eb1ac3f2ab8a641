#pragma once
// Alignment of a library's operands: kernels for the newest instructions take whole vectors only.
#include <array>
#include <cstdint>
#include <string_view>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::gemm {

/// Storage of A and B by BLAS's letters: n as written, [m,k] and [k,n]; t transposed.
enum Layout : std::uint8_t { kNN, kNT, kTN, kTT };
inline constexpr std::array<std::string_view, 4> kLayoutNames = {"nn", "nt", "tn", "tt"};

constexpr bool transposes_a(std::int64_t layout) {
  return layout == kTN || layout == kTT;
}
constexpr bool transposes_b(std::int64_t layout) {
  return layout == kNT || layout == kTT;
}

/// Elements from row to row of each matrix as stored; for a vector its length.
struct RowLengths {
  std::int64_t a, b, c;
};

/// Row lengths of dense matrices.
constexpr RowLengths row_lengths(const Problem& p, std::int64_t layout) {
  const bool column = p[kN] == 1;
  const std::int64_t a = transposes_a(layout) && p[kM] > 1 ? p[kM] : p[kK];
  const std::int64_t b = transposes_b(layout) || column ? p[kK] : p[kN];
  return {a, b, column ? p[kM] : p[kN]};
}

/// Elements of the widest copy of a thread to which the rows of all three matrices are aligned.
inline std::int64_t narrowest_vector(const RowLengths& rows, DType type) {
  std::int64_t vector = kVectorBytes / element_bytes(type);
  while ((rows.a | rows.b | rows.c) % vector != 0) vector /= 2;
  return vector;
}

}  // namespace roofcast::gemm
