#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::divergence {

/// Positions of the values in Problem.
enum Parameter : std::size_t { kElements, kPaths, kWork, kThreads };

inline constexpr std::int64_t kMaxPaths = 32;
/// Multiply-adds in one round of a path's loop.
inline constexpr std::int64_t kWorkUnit = 16;

/// Each thread takes one of `paths` branches, `work` multiply-adds long: all lanes of a warp the
/// same, lane by lane in turn, or by data.
extern const KernelFamily kFamily;

}  // namespace roofcast::divergence
