#pragma once
// The launch of gemm.skinny through a ring of shared memory, for its plan.
#include <vector>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::tensor {

namespace skinny {
/// Elements from row to row of A as the blocks find it: a pass that transposes it pads its rows.
constexpr std::int64_t pitch_of_a(const Problem& p) {
  return p[kTransposedA] != 0 ? passes::padded_row(p[kK], element_bytes(p.dtype)) : stored_a(p).row;
}
constexpr std::int64_t weight_pitch(const Problem& p) {
  return weights_in_b(p) ? stored_b(p).row : pitch_of_a(p);
}
constexpr bool is_whole(const Problem& p, std::int64_t pitch) {
  return pitch * element_bytes(p.dtype) % kVectorBytes == 0;
}
/// Whether a ring reads few columns of B as they are stored, by rows of k. Else they are
/// transposed.
constexpr bool reads_across(const Problem& p) {
  return transposes(p) && is_whole(p, stored_b(p).row) && is_whole(p, pitch_of_a(p));
}
constexpr std::int64_t token_pitch(const Problem& p) {
  if (weights_in_b(p)) return pitch_of_a(p);
  return transposes(p) && !reads_across(p) ? passes::padded_row(p[kK], element_bytes(p.dtype))
                                           : stored_b(p).row;
}
/// Whether all rows that are read begin at multiples of 16 bytes, as those of a transposed copy do:
/// a ring copies no others.
constexpr bool has_whole_rows(const Problem& p) {
  return is_whole(p, weight_pitch(p)) && is_whole(p, token_pitch(p));
}
}  // namespace skinny

/// Parts of k that gemm.skinny's blocks leave for the one of a tile's last part.
struct JoinedParts {
  /// `row_blocks`: of one matrix, each with so many sums.
  JoinedParts(const Problem& p, std::int64_t row_blocks, std::int64_t sums)
      : bytes(as_double(p[kBatch] * (p[kSplitK] - 1) * row_blocks * sums * kPartBytes)) {}

  double bytes;  ///< of all, in fp32: written, and read again

  /// To L2: until sums are written, seen, and read.
  double trips() const { return bytes > 0 ? 3 : 0; }
  void add_to(std::vector<ArrayUse>& arrays) const {
    if (bytes > 0) arrays.push_back(scratch(kParts, {0, bytes}));
  }
};

/// The uses count the operands as they are read, of all matrices.
Plan skinny_ring_launch(const Problem&, const SkinnyRing&, const ArrayUse& weights,
                        const ArrayUse& tokens);

}  // namespace roofcast::gemm::tensor
