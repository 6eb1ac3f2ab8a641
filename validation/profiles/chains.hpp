#pragma once
// Neighbours in a profile that one kernel could do: attention written as products and a softmax,
// and chains of elementwise operators.
#include <cstddef>
#include <vector>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

struct CallGroup;

/// softmax(Q K^T) V as products and a softmax, with what stands between them; or its backward pass.
struct Attention {
  std::size_t first = 0, last = 0;   ///< in the sequence
  std::vector<std::size_t> calls{};  ///< of the groups, in order
  double measured_s = 0;
  AttentionShape shape{};  ///< causal where a mask stands in between and both sequences are as long
  DType dtype = DType::bf16;
};

/// Around a softmax over [queries, keys] the nearest products, batched and with these two extents:
/// one before and one after it, two in the backward pass.
std::vector<Attention> standard_attention(const std::vector<CallInTime>& sequence,
                                          const std::vector<CallGroup>& groups);

/// Elementwise operators, one after the other, over equally many elements; at most one softmax or
/// norm among them, which takes those before it on its way in and those after it on its way out.
struct Chain {
  std::vector<std::size_t> calls;
  double measured_s = 0;
  double expected_s = 0;  ///< as they are
  Traffic fused;  ///< each link reads what the one before writes: in one kernel neither moves
};

/// Not those inside of `attention`. Which tensor a link reads is not recorded: the traffic is at
/// the least that of the largest link.
std::vector<Chain> elementwise_chains(const std::vector<CallInTime>& sequence,
                                      const std::vector<CallGroup>& groups,
                                      const std::vector<Attention>& attention);

}  // namespace roofcast::validation
