#pragma once
#include <array>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Cycles per resource.
using CyclesByResource = std::array<double, kResources>;

/// Cycles the busiest SM needs, and how they divide. A step of r resident blocks takes
///   pipes + ‖ (r - 1) · pipes,  exposed latency + what one warp's instructions in a row take more
///   ‖
/// where pipes = ‖ work ÷ rate of each pipe ‖ and ‖ ‖ is the p-norm of Overlap: a block alone waits
/// out its latency, further blocks hide it until a pipe is full (Little's law in cycles).
struct SmTime {
  double cycles = 0;
  CyclesByResource busy_cycles{};   ///< of each pipe; latency: what nothing hid
  CyclesByResource spent_cycles{};  ///< the same time by what was waited for; with idle: all of it
  double idle_cycles = 0;           ///< of it, places that stay empty while the last blocks run
  Resource fullest = Resource::latency;  ///< the fullest pipe of the loops
  double waiting_share = 1;  ///< of the loops' time beyond one block's own work, not hidden
};

/// `dram_share`: share of L2 reads that go on to DRAM, which sets the mean latency. `missed_waits`:
/// dependent waits of a block for random reads that L1 did not answer.
SmTime sm_time(const Plan& plan, const Occupancy& occupancy, double dram_share, double missed_waits,
               const Gpu& gpu);

}  // namespace roofcast
