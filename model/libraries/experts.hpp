#pragma once
// A mixture-of-experts feed-forward layer on one GPU: routing, rows sorted by expert, two grouped
// GEMMs with the gate between them, and the sum over experts.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/types/kernel_model.hpp"

namespace roofcast::experts {

/// Positions in Problem: the shape, then the library's settings.
enum Shape : std::size_t { kTokens, kHidden, kIntermediate, kExperts, kPerToken, kGpus, kRouting };
enum LibraryParameter : std::size_t { kTileRows = kRouting + 1, kTileColumns };

/// How often the router chooses each expert: equally, or by a power law with that exponent.
enum Routing : std::int64_t { kBalanced, kPowerLaw101, kPowerLaw120 };

/// Row counts of the experts that have any, on the busiest GPU. Power law: expert shares as the
/// benchmark of ai-dynamo/aiconfigurator (collector, Apache-2.0) draws them: density ∝ x^-exponent
/// between 1 and 0.8 · tokens, or 0.01 and 2 if choices are no more than experts. Of a fixed set of
/// draws, the one whose busiest GPU is nearest to the mean.
std::vector<std::int64_t> rows_of_experts(const Problem& problem);

extern const KernelFamily kFamily;

}  // namespace roofcast::experts
