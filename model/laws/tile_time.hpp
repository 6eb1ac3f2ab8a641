#pragma once
#include "model/laws/clock.hpp"
#include "model/types/gpu.hpp"
#include "model/types/tile_loop.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// Time of a launch of tiles whose copies run ahead of the arithmetic, and where it goes. All in
/// seconds; loop, epilogue, write, tail, fill and slowdown add up to time_s.
struct TileTime {
  double time_s = 0;
  double math_s = 0;  ///< each term: what that resource alone would take
  double l2_s = 0;
  double dram_s = 0;
  double step_s = 0;      ///< what steps take at the least: barriers, issue
  double loop_s = 0;      ///< the main loops, one round after the other
  double epilogue_s = 0;  ///< results from the accumulators to memory
  double write_s = 0;     ///< beyond both, until DRAM has taken the results
  double tail_s = 0;      ///< of the last round, places that stay empty
  double fill_s = 0;      ///< until the first tiles are there; what a split takes more
  double slowdown_s = 0;  ///< by the power limit
};

/// Blocks run in rounds of blocks_per_sm · SMs; a step of all that run at once takes
///   ‖ math, L2, DRAM, least ‖  (the 4-norm, or the 3-norm where TileLoop::overlaps_less: they overlap, not perfectly)
/// where math counts the fullest SM, or what a block alone on it waits for besides, L2 the bytes of
/// all, and DRAM the launch's bytes spread over its steps, at a rate that grows with the SMs that load
/// until `tile_dram_sm_share` of them do, or with what they have in flight where that is known.
///   round = max(steps · step + epilogue, what DRAM reads and writes for it)
///   time = rounds + fill, times the slowdown under the power limit unless the clock is given.
/// Blocks that stay have the first copies of their next tile under way while they store one
/// (TileLoop::steps_ahead): from the second round on
///   round = ‖ steps · math + epilogue, steps · memory + what of the epilogue these copies leave ‖.
/// They fill once. Where two groups of warps take turns (TileLoop::stores_meanwhile), half of a tile's loop
/// hides its ending but for scattered stores, and nothing the last one's: joined parts, and its stores at
/// half the SM's rate.
/// Where the depth of the last round's tiles is split, their parts run in rounds of fewer steps.
/// Sums that tiles have apart (TileLoop::sums_apart) hide the epilogue behind the next round's steps:
///   round = max(steps · step, epilogue), and once more the epilogue.
/// L2 merges what blocks store of a sector in part (TileLoop::merged_writes) beside its reads.
/// Blocks in turn (TileLoop::blocks_in_turn) that have an SM alone start anew in each round after the first:
/// on tensor cores they wait for two trips, on the SIMT pipes for their start and one. On tensor cores the
/// first round's steps, all in step, take `kInStep` longer. On the SIMT pipes one block stores while others
/// of the SM multiply, and one alone shows its stores or its share of all writes, which come at once.
/// The form is that of a sketch fitted to 10,000 published rows (gemm_tensor.csv:
/// ai-dynamo/aiconfigurator, compute capability 9.0; 2026-11-22);
/// compare Origami (ROCm), which adds prologue, loop and epilogue likewise.
TileTime tile_time(const TileLoop& loop, const Traffic& dram, const SmClock& clock, const Gpu& gpu);

/// How much longer a kernel takes because the power limit lowers the clock: nothing until its
/// tensor cores are busy for `power_free_share` of its time, then a share `power_slowdown` for each
/// tenfold of a microsecond that it lasts and full use of them: longer kernels, repeated, heat
/// the device for longer. A train of launches heats as one kernel as long as `kTrain` of them, of which
/// the clocks of steady runs tell 10 to 100 alike. No such constants: nothing.
double power_slowdown(double busy_share, double time_s, const SmClock& clock, const Gpu& gpu);

}  // namespace roofcast
