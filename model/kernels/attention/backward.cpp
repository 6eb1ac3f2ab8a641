#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace roofcast::attention {
namespace {

Blocks blocks_of_keys(const Backward& c) {
  return {.shape = c.shape,
          .kernel = c.kernel,
          .tile = c.keys,
          .width = c.width,
          .keys_stationary = true,
          .packed = c.heads_apart ? 1 : c.shape.group(),
          .dq_row_elements = c.dq == kAtomic ? as_double(c.rows.width) : 0};
}

// Operand elements that a grid of `down` × `across` warps reads from shared memory for m×n results,
// k deep. Each warp reads its rows, unless registers hold them (`rows_held`), and its columns.
double read_by_warps(double m, double n, double k, double down, double across, bool rows_held) {
  return k * ((rows_held ? 0 : m * across) + n * down);
}

// Shared-memory bytes of a step without the copies: operands of the products, and dS (and P) on
// their way from accumulators to operands. A warpgroup of wgmma counts as one warp with 64 rows. In
// blocks of keys, warps divide dQ along its rows first, then along its columns.
double shared_bytes_of_step(const Blocks& b) {
  constexpr double kRowsOfGroup = 64;
  const double rows = as_double(b.rows_held()), columns = as_double(b.rows_passing());
  const double d = as_double(b.width), parts = as_double(b.tile.parts);
  const bool async = b.kernel.async_mma();
  const double units = as_double(async ? multiplying_groups(b.tile.warps) : b.tile.warps);
  const double across =
      async ? std::max(1.0, units * kRowsOfGroup / rows) : as_double(b.tile.warps_across);
  const double down = units / across;
  const bool held = across <= 1;  // P and dS stay in registers as operands
  double elements = 2 * parts * read_by_warps(rows, columns / parts, d, down, across, false);
  elements += (b.keys_stationary ? 2 : 1) * read_by_warps(rows, d, columns, down, across, held);
  if (!held) elements += 2 * rows * columns;
  if (b.dq_row_elements > 0) {
    const double dq_rows = async ? kRowsOfGroup : as_double(b.tile.dq_rows);
    const double dq_down = std::min(units, columns / dq_rows);
    if (held) elements += rows * columns;  // dS alone
    elements += read_by_warps(columns, d, rows, dq_down, units / dq_down, false);
  }
  return elements * b.shape.element;
}

double head_kv_bytes(const Backward& c) {  // dK or dV of every query head
  return as_double(c.shape.group()) * c.shape.kv_bytes();
}

bool adds_over_groups(const Backward& c) {
  return c.heads_apart && c.shape.group() > 1;
}

// The launch of blocks of keys or of queries.
Plan blocks_plan(const Backward& c, const Blocks& b, const std::vector<ArrayUse>& results) {
  const Shape& s = c.shape;
  Plan plan = plan_of(b);
  if (!b.keys_stationary) {  // S and dP count as useful in the blocks of keys alone
    plan.useful = {};
    plan.useful.tensor_flops[s.type] = s.product_flops();
  }
  plan.arrays = {reads(kQ, s.q_bytes()), reads(kK, s.kv_bytes()), reads(kV, s.kv_bytes()),
                 reads(kDO, s.q_bytes()), scratch(kRowDots, {c.all_rows() * kRowNumbers, 0})};
  plan.arrays.insert(plan.arrays.end(), results.begin(), results.end());
  BlockSteps steps = block_steps(b);
  Step& step = steps.loop.step;
  step.wavefronts.shared = shared_bytes_of_step(b) / 128;
  if (b.tile.addition_bytes > 0) {
    step.wavefronts.l1 = step.issued.l2.write_bytes / b.tile.addition_bytes;
  }
  add_tiles(plan, b, steps);
  return plan;
}

Plan plan_of_keys(const Backward& c) {
  std::vector<ArrayUse> results = {writes(kDK, c.shape.kv_bytes()),
                                   writes(kDV, c.shape.kv_bytes())};
  if (adds_over_groups(c)) {
    results = {scratch(kHeadDK, {0, head_kv_bytes(c)}), scratch(kHeadDV, {0, head_kv_bytes(c)})};
  }
  // Sums of dQ that have left L2 are read from DRAM and written to it again.
  const double sums = c.dq_sum_bytes();
  if (c.dq == kAtomic) results.push_back(scratch(kDqSums, {sums, sums}));
  return blocks_plan(c, blocks_of_keys(c), results);
}

// Computes D = rowsum(dO∘O), rewrites the log-sum-exp, and clears dQ where blocks add to it.
Plan row_dots(const Backward& c) {
  // Per thread, for two vectors of eight: multiply-adds, conversions, five shuffles and sums.
  constexpr double kInstructions = 40;
  const Shape& s = c.shape;
  std::vector<ArrayUse> arrays = {reads(kO, s.q_bytes()), gradient_input(s),
                                  reads(kLse, s.rows_bytes()),
                                  scratch(kRowDots, {0, c.all_rows() * kRowNumbers})};
  if (c.dq == kAtomic) arrays.push_back(scratch(kDqSums, {0, c.dq_sum_bytes()}));
  const double threads = c.all_rows() * as_double(c.rows.lanes);
  Plan plan = pass_over(threads * kVectorElements, kInstructions, std::move(arrays), c.rows.waits);
  plan.useful.vector_flops = 2 * s.q_bytes() / s.element;
  return plan;
}

// Converts dQ from fp32 to the problem's type.
Plan round_dq(const Backward& c) {
  constexpr double kInstructions = 16;
  const double sums = c.dq_sum_bytes();
  Plan plan =
      pass_over(sums / kSumElement, kInstructions,
                {scratch(kDqSums, {sums, 0}), writes(kDQ, c.shape.q_bytes())}, c.rows.waits);
  plan.useful.conversions = c.shape.q_bytes() / c.shape.element / 2;
  return plan;
}

// Sums dK or dV of the query heads of each group.
Plan sum_over_group(const Backward& c, ArrayId of_heads, ArrayId result) {
  constexpr double kInstructions = 16;
  const Shape& s = c.shape;
  Plan plan = pass_over(s.kv_bytes() / s.element, kInstructions * as_double(s.group()),
                        {scratch(of_heads, {head_kv_bytes(c), 0}), writes(result, s.kv_bytes())},
                        c.rows.waits);
  plan.useful.vector_flops = head_kv_bytes(c) / s.element;
  return plan;
}

}  // namespace

ArrayUse gradient_input(const Shape& shape) {
  ArrayUse use = reads_activation(kDO, shape.q_bytes());
  use.input = static_cast<std::size_t>(kDO);
  return use;
}

Plan pass_over(double elements, double instructions, std::vector<ArrayUse> arrays, double waits) {
  constexpr std::int64_t kThreads = 256;
  const double vectors = elements / kVectorElements;
  const Launch launch = linear_launch(std::ceil(vectors / kThreads), kThreads);
  Step step;
  step.warp_instructions = vectors / 32 / as_double(launch.blocks()) * instructions;
  step.waits.global = waits;
  return even_launch(launch, std::move(arrays), step);
}

LaunchSequence backward_launches(const Backward& c) {
  const Blocks of_queries{
      .shape = c.shape, .kernel = c.kernel, .tile = c.queries, .width = c.width};
  LaunchSequence sequence = {{row_dots(c)}, {plan_of_keys(c)}};
  sequence.push_back({c.dq == kAtomic
                          ? round_dq(c)
                          : blocks_plan(c, of_queries, {writes(kDQ, c.shape.q_bytes())})});
  if (adds_over_groups(c)) {
    sequence.push_back({sum_over_group(c, kHeadDK, kDK)});
    sequence.push_back({sum_over_group(c, kHeadDV, kDV)});
  }
  return sequence;
}

}  // namespace roofcast::attention
