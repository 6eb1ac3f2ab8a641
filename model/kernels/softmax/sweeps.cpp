// softmax.three_pass and softmax.online.
#include <algorithm>
#include <array>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/softmax/plan_parts.hpp"
#include "model/kernels/softmax/softmax.hpp"

namespace roofcast::softmax {
namespace {

/// A kernel that sweeps over the row `reads` times and writes in the last.
struct Sweeps {
  double reads;
  PerElement each;
  double rescales;  ///< of a running sum, for each vector
  const std::array<Swept, 2>& counted;
  std::int64_t registers;
  double turns;         ///< instructions of a turn of all sweeps' loops: a batch of accesses
  std::int64_t merges;  ///< over the warps of the block
};

Plan plan_sweeps(const Problem& p, const Sweeps& how) {
  if (p[kThreads] % rows::kWarp != 0) {
    throw InputError("threads is " + std::to_string(p[kThreads]) + ": give a multiple of 32");
  }
  constexpr std::int64_t kBatch = 4;  // accesses a thread issues together: row_sweep.cuh
  rows::Layout layout = sweep_layout(p);
  layout.vectors = 0;  // nothing is held
  Plan plan = rows::plan_of(layout, p[rows::kRows], how.registers, how.merges * rows::kWarp * 8);
  const double width = as_double(rows::kVectorBytes / element_bytes(p));
  PerElement each = how.each;
  each.flops += how.rescales * kRescaleFlops / width;
  each.special += how.rescales / width;
  const MatrixBytes bytes = matrix_bytes(p, layout);
  set_arrays(plan, p, each, bytes);

  const double rows_here = as_double(layout.rows_per_block);
  const double block_bytes = as_double(p[rows::kCols] * element_bytes(p)) * rows_here;
  // Between two uses of a row each resident block makes a sweep, and one in `reads` sweeps writes
  // as much, through L1 too. Of rows that are 1.27 times L1 together, 98% are missed.
  plan.reuse = {{.scope = Scope::block,
                 .bytes = (how.reads - 1) * bytes.distinct,
                 .distance_bytes = (1 + 1 / how.reads) * block_bytes,
                 .l2_distance_bytes = (1 + 1 / how.reads) * block_bytes}};

  const std::int64_t vectors =
      std::max<std::int64_t>(1, rows::vectors_of(p[rows::kCols], element_bytes(p)));
  const std::int64_t sweep = rows::ceil_div(vectors, kBatch * layout.threads);
  // A warp whose first access of a batch lies beyond the row skips the batch.
  const std::int64_t last = vectors - (sweep - 1) * kBatch * layout.threads;
  const double entered =
      rows_here * as_double((sweep - 1) * layout.threads / rows::kWarp +
                            rows::ceil_div(std::min(last, layout.threads), rows::kWarp));
  const double stored = rows_here * as_double(rows::ceil_div(vectors, rows::kWarp));
  split_stores(plan, bytes, entered / as_double(sweep));
  const double batches = as_double(sweep) * how.reads;
  const double steps = as_double(plan.launch.blocks()) * batches;
  // Of one sweep: what is read is computed with, beyond the row too; what is written is not.
  const double computed = (1 - 1 / how.reads) * entered * kBatch + stored / how.reads;
  Step batch = arithmetic(p, {each.flops / how.reads, each.special / how.reads},
                          computed / as_double(sweep) * kWarpLanes * width);
  batch.issued.conversions /= how.reads;  // packed in the last sweep only
  batch.issued.requested = shared_by({how.reads * bytes.requested, bytes.requested}, steps);
  batch.issued.l1 = shared_by({how.reads * bytes.accessed, kStoreParts * bytes.accessed}, steps);
  batch.issued.l2 = shared_by({how.reads * bytes.distinct, bytes.accessed}, steps);
  const Swept& counted = of_type(how.counted, p);
  batch.warp_instructions =
      (entered * (how.turns - as_double(kBatch) * counted.vector) + stored * counted.vector) /
      batches;
  batch.wavefronts.l1 = batch.wavefronts.l1_lookups =
      batch.issued.l1.total_bytes() / as_double(kLineBytes);
  // Sweeps that reduce wait for each element, and where they rescale for each vector; the last one
  // works on elements apart.
  const double reduced = (how.reads - 1 + (how.rescales > 0 ? 1 : 0)) * as_double(kBatch) * width;
  batch.waits = {.global = 1,
                 .arithmetic = (reduced + how.rescales * as_double(kBatch) * kDependentOfRescale +
                                how.reads * kDependentOfBatch) /
                               how.reads};

  const auto merges = as_double(how.merges);
  const bool alone = layout.threads == rows::kWarp;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  Step merge;
  merge.warp_instructions = warps * (alone ? counted.alone : counted.warp);
  merge.wavefronts.shared = alone ? 0 : merges * 2 * warps;
  merge.issued.shared_bytes = merge.wavefronts.shared * as_double(kLineBytes);
  merge.waits.shared = merges * (alone ? 1 : 2) * kShufflesOfWarp;
  merge.waits.arithmetic = merges * (alone ? 1 : 2) * kDependentOfMerge + kDependentOfEnds;
  merge.waits.barriers = alone ? 0 : merges;
  set_blocks(plan, {{batch, batches}, {merge}});
  return plan;
}

}  // namespace

// Between the loops of the sweeps stand those that merge warps.
LaunchSequence plan_three_pass(const Problem& p, const Gpu& /*gpu*/) {
  const auto kernel = compiled::kernel("softmax::three_pass_kernel", p.dtype, true);
  const double turns = kernel.loops[0] + kernel.loops[2] + kernel.loops[4];
  return launch_of(
      plan_sweeps(p, {3, kThreePass, 0, kThreePassInstructions, kernel.registers, turns, 2}));
}
LaunchSequence plan_online(const Problem& p, const Gpu& /*gpu*/) {
  const auto kernel = compiled::kernel("softmax::online_kernel", p.dtype, true);
  const double turns = kernel.loops[0] + kernel.loops[2];
  return launch_of(
      plan_sweeps(p, {2, kOnline, 1, kOnlineInstructions, kernel.registers, turns, 1}));
}

}  // namespace roofcast::softmax
