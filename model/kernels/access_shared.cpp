#include <string>

#include "model/kernels/access_counts.hpp"

namespace roofcast::access {
namespace {

// The SASS for sm_90a of the loop over eight accesses, and of the rest (2026-11-21).
constexpr double kInstructionsPerTurn = 4;
constexpr double kInstructionsOnce = 40;

}  // namespace

Plans plan_shared(const Problem& p, const Gpu& gpu) {
  using shared::kElements;
  using shared::kRepeats;
  using shared::kShifts;
  using shared::kStride;
  using shared::kWidth;
  using shared::words;
  const std::int64_t width = p[kWidth];
  require_multiple("stride", p[kStride], width);
  if ((width & (width - 1)) != 0 || width > 4) {
    throw InputError("width is " + std::to_string(width) + ": give 1, 2 or 4 words");
  }
  if (p[kRepeats] % kShifts != 0) {
    throw InputError("repeats is " + std::to_string(p[kRepeats]) + ": give a multiple of 8");
  }
  const std::int64_t count = words(p[kStride], width);
  const double warps = as_double(kThreads / kWarpLanes);
  const double loads = warps * as_double(p[kRepeats]);
  const double stores = warps_of(count);

  Plan plan;
  plan.launch.grid[0] = (p[kElements] + kThreads - 1) / kThreads;
  plan.launch.block[0] = kThreads;
  plan.launch.shared_bytes = 4 * count;
  plan.launch.registers = width == 1 ? 24 : 32;
  const double blocks = as_double(plan.launch.grid[0]);
  Step& once = plan.block.once;
  plan.block.steps = 0;
  once.shared_wavefronts = loads * as_double(shared_wavefronts(4 * p[kStride], 4 * width)) + stores;
  once.vector_flops = loads * kWarpLanes * as_double(width);
  once.instructions = loads * as_double(1 + width) +
                      loads / as_double(kShifts) * kInstructionsPerTurn +
                      warps * kInstructionsOnce + 3 * stores;
  once.l2_bytes = as_double(4 * count + 4 * kThreads);
  once.global_round_trips = 1;
  once.shared_round_trips = as_double(p[kRepeats] / kShifts);
  once.barriers = 1;
  Work& work = plan.total;
  work.vector_flops = as_double(p[kElements] * p[kRepeats] * width);
  work.requested = {blocks * as_double(4 * count), as_double(4 * p[kElements])};
  const double sectors = sectors_in_order(count, 4);
  const double fetching = std::min(blocks, as_double(gpu.sm_count.value_or(plan.launch.grid[0])));
  work.l1 = {blocks * sectors * kSectorBytes, sectors_in_order(p[kElements], 4) * kSectorBytes};
  work.l2 = {fetching * sectors * kSectorBytes, work.l1.write_bytes};  // once an SM, then from L1
  work.compulsory = work.dram_footprint = {as_double(4 * count), as_double(4 * p[kElements])};
  work.shared_bytes = blocks * once.shared_wavefronts * kLineBytes;
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return {plan};
}

}  // namespace roofcast::access
