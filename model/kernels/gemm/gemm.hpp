#pragma once
#include <array>

#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

/// C[m,n] = A[m,k] · B[k,n], all row-major. Positions in Problem; a variant takes a prefix.
enum Parameter : std::size_t { kM, kN, kK, kTileM, kTileN, kTileK, kThreadM, kThreadN };
inline constexpr std::array kExtents = {kM, kN, kK};

inline constexpr std::int64_t kVectorBytes = 16;  ///< the widest copy of a thread
inline constexpr std::int64_t kPartBytes = 4;     ///< an fp32 partial sum of split-K

inline constexpr std::int64_t kMaxExtent = std::int64_t{1} << 24;
inline constexpr std::array kShape = {
    roofcast::Parameter{"m", "rows of A and C (elements)", 1, kMaxExtent},
    roofcast::Parameter{"n", "columns of B and C (elements)", 1, kMaxExtent},
    roofcast::Parameter{"k", "columns of A, rows of B (elements)", 1, kMaxExtent}};

/// Storage of A and B by BLAS's letters: n as written, [m,k] and [k,n]; t transposed.
enum Layout : std::uint8_t { kNN, kNT, kTN, kTT };
inline constexpr std::array<std::string_view, 4> kLayoutNames = {"nn", "nt", "tn", "tt"};

constexpr bool transposes_a(std::int64_t layout) {
  return layout == kTN || layout == kTT;
}
constexpr bool transposes_b(std::int64_t layout) {
  return layout == kNT || layout == kTT;
}

/// Pitch of the rows of each matrix as stored, in elements; for a vector its length.
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

/// Elements of the widest copy of a thread for which all rows of the three matrices are aligned.
constexpr std::int64_t narrowest_vector(const RowLengths& rows, DType type) {
  std::int64_t vector = kVectorBytes / element_bytes(type);
  while ((rows.a | rows.b | rows.c) % vector != 0) vector /= 2;
  return vector;
}

extern const KernelFamily kFamily;

}  // namespace roofcast::gemm
