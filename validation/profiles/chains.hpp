#pragma once
// Finds consecutive calls of a profile that one kernel could replace: attention as products and a
// softmax, and chains of elementwise operators.
#include <cstddef>
#include <vector>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

struct CallGroup;

/// softmax(Q K^T) V as products and a softmax, with the calls between them; or its backward pass.
struct Attention {
  std::size_t first = 0, last = 0;   ///< positions in the sequence
  std::vector<std::size_t> calls{};  ///< indices of groups, in order
  double measured_s = 0;
  AttentionShape shape{};  ///< causal if a mask is among the calls and seq_q = seq_kv
  DType dtype = DType::bf16;
};

/// Finds attention around each softmax over [queries, keys]: the nearest products with its batch
/// and these two extents, one before and one after it; in the backward pass up to two on each side.
std::vector<Attention> standard_attention(const std::vector<CallInTime>& sequence,
                                          const std::vector<CallGroup>& groups);

/// Consecutive elementwise operators over equally many elements, with at most one softmax or norm
/// among them, which can apply the ones before it to its inputs and the ones after to its outputs.
struct Chain {
  std::vector<std::size_t> calls;
  double measured_s = 0;
  double expected_s = 0;  ///< forecast without fusion
  Traffic fused;          ///< of one kernel: what a link reads from the one before does not move
};

/// Chains of two or more calls outside of `attention`. Which tensors a link shares with the one
/// before is not recorded: the fused traffic is at least that of the largest link.
std::vector<Chain> elementwise_chains(const std::vector<CallInTime>& sequence,
                                      const std::vector<CallGroup>& groups,
                                      const std::vector<Attention>& attention);

}  // namespace roofcast::validation
