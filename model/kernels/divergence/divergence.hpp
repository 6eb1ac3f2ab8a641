#pragma once
#include "model/types/kernel_model.hpp"

namespace roofcast::divergence {

/// How a thread chooses its path.
enum class Choice : unsigned char { warp_uniform, k_way, data_dependent };

/// Positions of the values in Problem.
enum Parameter : std::size_t { kElements, kPaths, kWork, kThreads };

inline constexpr std::int64_t kMaxPaths = 32;
/// Multiply-adds of one iteration of a path's loop.
inline constexpr std::int64_t kWorkUnit = 16;

/// Each thread takes one of `paths` branches, `work` multiply-adds long: the same for all lanes of
/// a warp, a different one from lane to lane, or one chosen by data.
extern const KernelFamily kFamily;

}  // namespace roofcast::divergence
