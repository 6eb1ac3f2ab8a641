#pragma once
#include <array>

#include "model/laws/tile_time.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// The time of a launch, and of each pipe of the SMs what it alone would take (s).
struct ClassesTime {
  TileTime time;
  std::array<double, kResources> pipes_s{};
};

/// Time of a launch of unequal blocks whose copies run ahead of their arithmetic (Plan::pipelined),
/// and where it goes, by the constants of equal tiles (tile_time.hpp). A step of the blocks that are
/// on an SM together takes
///   ‖ pipes, L2, DRAM, least ‖  (the 4-norm: copies overlap with arithmetic, not perfectly)
/// where pipes is the p-norm of the SM's pipes (sm_pipes.hpp), with the tensor cores at
/// `tile_math_efficiency` of the plan's share of their rate and each warp as many as it has
/// instructions at once, and the launch's bytes from DRAM are spread over what it reads from L2.
/// A block alone also waits out its step's latency, less what its warps on a scheduler hide. One that
/// waits for its first tiles waits `tile_fill_cycles` for bulk copies, `tile_load_latency_cycles` for
/// those of threads, while the other blocks of its SM work; its results follow at
/// `tile_outputs_per_clk`, but those of a loop leave beside what it reads. The blocks' times fill the
/// places in the plan's order (makespan.hpp); blocks that stay are launched once. In a round that gives
/// some SMs two blocks and others one, two share an SM until the shorter has ended. Where no block
/// waits for its tiles, the launch does:
///   time = makespan + fill, times the slowdown under the power limit unless the clock is given.
ClassesTime tile_classes_time(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                              const SmClock& clock, const Gpu& gpu);

}  // namespace roofcast
