#include "model/counting/coalescing.hpp"
#include "model/kernels/access/access.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::access {

LaunchSequence plan_shared(const Problem& p, const Gpu& /*gpu*/) {
  using shared::kShifts;
  const std::int64_t n = p[shared::kElements], stride = p[shared::kStride];
  const std::int64_t width = p[shared::kWidth], repeats = p[shared::kRepeats];
  require(stride % width == 0, "stride is ", stride, ": give a multiple of width, ", width);
  require(is_power_of_two(width) && width <= 4, "width is ", width, ": give 1, 2 or 4 words");
  require(repeats % kShifts == 0, "repeats is ", repeats, ": give a multiple of 8");
  const std::int64_t count = shared::words(stride, width);
  const double warps = warps_of(kThreads);
  const double loads = warps * as_double(repeats);
  const double stores = warps_of(count);

  const compiled::Kernel kernel = compiled::kernel("access::shared_kernel", width);
  Plan plan = launch_plan(ceil_div(n, kThreads), {kThreads, 1, 1}, kernel.registers, 4 * count);
  const double blocks = as_double(plan.launch.grid[0]);
  const double read = as_double(round_up(4 * count, kSectorBytes));
  Step step;
  step.wavefronts.shared = loads * as_double(shared_wavefronts({4 * stride, 4 * width})) + stores;
  step.issued.vector_flops = loads * kWarpLanes * as_double(width);
  step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
  step.issued.requested = {as_double(4 * count), as_double(4 * n) / blocks};
  step.issued.l1 = step.issued.l2 = {read, as_double(round_up(4 * n, kSectorBytes)) / blocks};
  // loops[0] fills a word of shared memory; loops[1] makes kShifts accesses, unrolled 4 or 2 times.
  const double unrolled = width == 4 ? 2 : 4;
  step.warp_instructions = warps * kernel.straight + stores * kernel.loops[0] +
                           loads / as_double(kShifts) * kernel.loops[1] / unrolled;
  // The loop that fills shared memory waits for each word before it loads the next one.
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
