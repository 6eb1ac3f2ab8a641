#pragma once
#include "model/laws/l1_reuse.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// What one launch of a program moves below L1, each written byte counted; the program starts with
/// L2 in the state `cache`.
struct LaunchMemory {
  Traffic l2;
  Traffic dram;
  double new_share = 0;  ///< of what it reads first that is neither there nor in the translations
  bool back_to_back = false;  ///< equal launches went before, back to back
  double warm_bytes = 0;      ///< found in L2, computed by a kernel before the program
  double early_bytes = 0;     ///< of sectors driven out of L2 before they were complete
  L1Misses misses{};
};
LaunchMemory launch_memory(const LaunchSequence& program, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu);

}  // namespace roofcast
