#include "model/counting/coalescing.hpp"
#include "model/kernels/access/plans.hpp"

namespace roofcast::access {

LaunchSequence plan_shared(const Problem& p, const Gpu& /*gpu*/) {
  // By the machine code for compute capability 9.0: the loop over eight accesses, and the rest.
  constexpr double kInstructionsPerTurn = 4, kInstructionsOnce = 40;
  using shared::kShifts;
  const std::int64_t n = p[shared::kElements], stride = p[shared::kStride];
  const std::int64_t width = p[shared::kWidth], repeats = p[shared::kRepeats];
  require_multiple("stride", stride, width);
  if ((width & (width - 1)) != 0 || width > 4) {
    throw InputError("width is " + std::to_string(width) + ": give 1, 2 or 4 words");
  }
  if (repeats % kShifts != 0) {
    throw InputError("repeats is " + std::to_string(repeats) + ": give a multiple of 8");
  }
  const std::int64_t count = shared::words(stride, width);
  const auto bytes_in_sectors = [](std::int64_t bytes) {
    return as_double(ceil_div(bytes, kSectorBytes) * kSectorBytes);
  };
  const double warps = warps_of(kThreads);
  const double loads = warps * as_double(repeats);
  const double stores = warps_of(count);

  Plan plan;
  plan.launch.grid[0] = ceil_div(n, kThreads);
  plan.launch.block[0] = kThreads;
  plan.launch.shared_bytes = 4 * count;
  plan.launch.registers = compiled::registers("access::shared_kernel", width);
  const double blocks = as_double(plan.launch.grid[0]);
  const double read = bytes_in_sectors(4 * count);
  Step step;
  step.wavefronts.shared = loads * as_double(shared_wavefronts(4 * stride, 4 * width)) + stores;
  step.issued.vector_flops = loads * kWarpLanes * as_double(width);
  step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
  step.issued.requested = {as_double(4 * count), as_double(4 * n) / blocks};
  step.issued.l1 = step.issued.l2 = {read, bytes_in_sectors(4 * n) / blocks};
  step.warp_instructions = loads * as_double(1 + width) +
                           loads / as_double(kShifts) * kInstructionsPerTurn +
                           warps * kInstructionsOnce + 3 * stores;
  // The loop that fills shared memory waits for each word before it loads the next.
  step.waits = {.global = as_double(ceil_div(count, kThreads)),
                .shared = as_double(repeats / kShifts),
                .barriers = 1};
  set_blocks(plan, {{step}});
  plan.useful.vector_flops = as_double(n * repeats * width);
  plan.arrays = {reads(0, as_double(4 * count)), writes(1, as_double(4 * n))};
  plan.reuse = {{.scope = Scope::sm, .bytes = blocks * read, .distinct_bytes = read}};
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
