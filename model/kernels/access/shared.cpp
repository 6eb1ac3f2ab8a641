#include <string>

#include "model/kernels/access/counts.hpp"

namespace roofcast::access {
namespace {

// By the machine code for compute capability 9.0: the loop over eight accesses, and the rest.
constexpr double kInstructionsPerTurn = 4;
constexpr double kInstructionsOnce = 40;

}  // namespace

LaunchSequence plan_shared(const Problem& p, const Gpu& /*gpu*/) {
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
  const double warps = warps_of(kThreads);
  const double loads = warps * as_double(p[kRepeats]);
  const double stores = warps_of(count);

  Plan plan;
  plan.launch.grid[0] = ceil_div(p[kElements], kThreads);
  plan.launch.block[0] = kThreads;
  plan.launch.shared_bytes = 4 * count;
  plan.launch.registers = compiled::registers("access::shared_kernel", width);
  const double blocks = as_double(plan.launch.grid[0]);
  const double sectors = sectors_in_order(count, 4) * kSectorBytes;
  Step step;
  step.wavefronts.shared = loads * as_double(shared_wavefronts(4 * p[kStride], 4 * width)) + stores;
  step.issued.vector_flops = loads * kWarpLanes * as_double(width);
  step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
  step.issued.requested = {as_double(4 * count), as_double(4 * p[kElements]) / blocks};
  step.issued.l1 = {sectors, sectors_in_order(p[kElements], 4) * kSectorBytes / blocks};
  step.issued.l2 = step.issued.l1;
  step.warp_instructions = loads * as_double(1 + width) +
                           loads / as_double(kShifts) * kInstructionsPerTurn +
                           warps * kInstructionsOnce + 3 * stores;
  // The loop that fills shared memory waits for each word before it loads the next.
  step.waits = {.global = as_double(ceil_div(count, kThreads)),
                .shared = as_double(p[kRepeats] / kShifts),
                .barriers = 1};
  set_blocks(plan, {{step}});
  plan.useful.vector_flops = as_double(p[kElements] * p[kRepeats] * width);
  plan.arrays = {reads(0, as_double(4 * count)), writes(1, as_double(4 * p[kElements]))};
  plan.reuse = {{.scope = Scope::sm, .bytes = blocks * sectors, .distinct_bytes = sectors}};
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
