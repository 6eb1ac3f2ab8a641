#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::recompute {

/// Positions of the values in Problem.
enum Parameter : std::size_t { kElements, kChain, kThreads, kVectorBytes, kLoads };

inline constexpr std::int64_t kMaxChain = 8;

/// y = σ(σ(…σ(x))), a chain of L logistic functions, forward and backward. The forward pass stores
/// what the backward pass needs, or the backward pass computes it again. Accesses an element:
/// stored 2·L + 2 (L = 1: 5), recomputed 5; special functions 2·(L + 1) and 4·L.
extern const KernelFamily kFamily;

}  // namespace roofcast::recompute
