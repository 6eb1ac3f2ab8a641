#pragma once
#include "model/laws/sm_pipes.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Cycles the busiest SM needs, and how they divide. A step of r resident blocks takes
///   P(1) + ‖ r·P(r) - P(1),  exposed latency + what one warp's instructions in a row take more ‖
/// where P(r) = ‖ a block's work ÷ rate of each pipe ‖ with r blocks on the SM and ‖ ‖ is the p-norm
/// of Overlap: a block alone waits out its latency, further blocks hide it until a pipe is full
/// (Little's law in cycles). In a loop without a barrier it is each warp that waits, and P(1) is
/// that of one warp.
struct SmTime {
  double cycles = 0;
  CyclesByResource busy_cycles{};   ///< of each pipe; latency: what nothing hid
  CyclesByResource spent_cycles{};  ///< the same time by what was waited for; with idle: all of it
  double fill_cycles = 0;           ///< from a block's start until its first loads have arrived
  double idle_cycles = 0;           ///< of it, places that stay empty while the last blocks run
  Resource fullest = Resource::latency;  ///< the fullest pipe of the loops
  double waiting_share = 1;  ///< of the loops' time beyond one block's own work, not hidden
};

/// Where the loads of a launch find their data, as shares of what its blocks wait for.
struct WaitShares {
  double l1 = 0;            ///< in L1
  double dram = 0;          ///< in DRAM; the rest in L2
  double random_waits = 0;  ///< dependent waits of a block for random reads that L1 misses
  double queue_cycles = 0;  ///< more for each that L1 misses, because memory is busy
};

SmTime sm_time(const Plan& plan, const Occupancy& occupancy, const WaitShares& shares,
               const Gpu& gpu);

}  // namespace roofcast
