#pragma once
#include <array>
#include <cstdint>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Cycles the busiest SM needs, and how they divide. One step with r blocks resident takes
///   pipes + ‖ (r - 1) · pipes,  exposed latency + what one warp's instructions in a row take more
///   ‖
/// where pipes = ‖ work ÷ rate of each pipe ‖ and ‖ ‖ is the p-norm of Overlap: a block alone waits
/// out its latency, further blocks hide it until a pipe is full (Little's law in cycles).
struct SmTime {
  double cycles = 0;
  std::array<double, kResources> busy_cycles{};  ///< of each pipe; latency: what nothing hid
  Resource bound = Resource::latency;    ///< the fullest pipe, or latency if more time is waited
  Resource fullest = Resource::latency;  ///< the fullest pipe of the main loop
  double waiting_share = 1;  ///< of the main loop's time beyond one block's own work, not hidden
};

/// `dram_share`: share of L2 reads that go on to DRAM, which sets the mean latency.
SmTime sm_time(const Plan& plan, const Occupancy& occupancy, double dram_share, const Gpu& gpu);

}  // namespace roofcast
