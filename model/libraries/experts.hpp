#pragma once
// The feed-forward part of a layer whose tokens pass some of its experts alone, on one GPU:
// routing, rows put in the experts' order, two grouped products with the gate between them, and the
// sum over experts.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/types/kernel_model.hpp"

namespace roofcast::experts {

/// Positions in Problem.
enum Parameter : std::size_t {
  kTokens,
  kHidden,
  kIntermediate,
  kExperts,
  kPerToken,
  kGpus,
  kRouting,
  kTileRows,
  kTileColumns
};

/// Of what the router's choices follow: each expert as often, or a power law with that exponent.
enum class Routing : unsigned char { balanced, power_law_101, power_law_120 };

struct Routed {
  std::int64_t tokens = 1;
  std::int64_t experts = 1;  ///< of all GPUs together
  std::int64_t per_token = 1;
  std::int64_t gpus = 1;  ///< that share the experts, each as many
  Routing routing = Routing::balanced;
};

/// Rows of each expert that has any, on the GPU with the most rows. Balanced: experts in turn,
/// those of one token evenly apart, on the first GPU. Power law: shares of the experts as the
/// benchmark of ai-dynamo/aiconfigurator (collector, Apache-2.0) draws them: density ∝ x^-exponent
/// between 1 and 0.8 · tokens, or 0.01 and 2 where there are fewer choices than experts. Of some
/// draws the one whose rows are nearest to their mean; the draws are always the same.
std::vector<std::int64_t> rows_of_experts(const Routed& routed);

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

extern const KernelFamily kFamily;

}  // namespace roofcast::experts
