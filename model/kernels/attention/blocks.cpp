#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// What the threads of a block issue for the scores of a step.
double score_instructions(const Forward& c, bool masked) {
  return c.kernel.instructions_a_score + (masked ? c.kernel.instructions_a_mask : 0) +
         c.kernel.instructions_a_sum * c.head() / as_double(c.tile.keys);
}

Step step_of(const Forward& c, DType type, bool masked) {
  const double scores = as_double(c.tile.queries * c.tile.keys);
  Step step;
  step.issued.special_flops = scores;
  const double kv_bytes = 2 * as_double(c.tile.keys) * c.shape.row_bytes();
  set_traffic(step.issued, {2 * as_double(c.tile.keys) * c.copied_row(), 0});
  double instructions = score_instructions(c, masked);
  const double rows = as_double(c.tile.queries);
  if (!c.tile.products()) {
    step.issued.vector_flops = 4 * scores * c.head();
    instructions += c.tile.vector_instructions * c.head();
    step.waits.global = 2;  // K, then V
  } else if (c.kernel.wide()) {
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    step.issued.shared_bytes = 2 * kv_bytes;
  } else {
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    instructions += 4 * c.head() * kInstructionsAFlop;
    // Warps that hold different queries read all of K and V each.
    const double readers =
        c.tile.deals_keys ? 1 : std::max(1.0, rows / as_double(c.tile.rows_per_warp));
    step.issued.shared_bytes = 2 * kv_bytes;
    step.wavefronts.shared = (readers + 1) * kv_bytes / 128;
  }
  step.warp_instructions = scores / 32 * instructions;
  if (c.tile.products()) step.waits.tile_loads = 1;
  step.waits.arithmetic = c.tile.waits_of_step;
  step.waits.barriers = 1;
  return step;
}

Step prologue_of(const Forward& c) {
  Step step;
  const double rows = c.by_boxes() ? as_double(c.tile.queries) : c.full_rows();
  set_traffic(step.issued, {rows * c.copied_row(), 0});
  step.waits = {.global = c.tile.dependent_loads,
                .tile_loads = c.tile.alternates || !c.tile.products() ? 0.0 : 1.0,
                .arithmetic = c.tile.waits_before,
                .barriers = 1};
  return step;
}

Step epilogue_of(const Forward& c) {
  Step step;
  const bool parts = c.splits > 1;
  const double results = c.full_rows() * as_double(c.shape.head_dim);
  const double element = parts ? kSumElement : c.shape.element;
  // A part comes with what scales it.
  const double lse_bytes = c.writes_lse || parts ? c.full_rows() * kSumElement : 0;
  set_traffic(step.issued, {0, results * element + lse_bytes});
  step.warp_instructions =
      as_double(c.tile.queries) * c.head() * c.kernel.instructions_a_result / 32;
  return step;
}

}  // namespace

ArrayUse kv_input(const Shape& shape, ArrayId array) {
  const auto use = shape.seq_q == shape.seq_kv ? reads_activation : reads;
  return use(array, shape.kv_bytes());
}

std::vector<ArrayUse> forward_inputs(const Shape& shape) {
  return {reads_activation(kQ, shape.q_bytes()), kv_input(shape, kK), kv_input(shape, kV)};
}

double copied_row_bytes(const Shape& shape, double padded, bool by_boxes) {
  if (by_boxes) return padded * shape.element;
  return kSectorBytes * std::ceil(shape.row_bytes() / kSectorBytes);
}

bool Forward::by_boxes() const {
  return kernel.wide();
}

double Forward::head() const {
  return as_double(width.value_or(padded_head(shape.head_dim)));
}

std::int64_t Forward::tiles() const {
  return ceil_div(rows(), tile.queries);
}

double Forward::full_rows() const {
  return as_double(rows()) / as_double(tiles());
}

double Forward::part_bytes() const {
  if (splits == 1) return 0;
  return as_double(splits * shape.batch * shape.heads * shape.seq_q) *
         (as_double(shape.head_dim) + 1) * kSumElement;
}

double Forward::on_chip_bytes(std::int64_t shared_bytes) const {
  return as_double(tile.queries) * head() * kSumElement + as_double(shared_bytes);
}

Steps Forward::steps(std::int64_t of_tile) const {
  const std::int64_t first = of_tile * tile.queries / packed;
  const std::int64_t end = std::min(rows(), (of_tile + 1) * tile.queries);
  Steps steps = steps_over_keys(shape, first, ceil_div(end, packed) - 1, tile.keys);
  if (by_boxes()) steps.full_share = steps.masked_share = 1;
  return steps;
}

BlockSteps forward_blocks(const Forward& forward, DType type) {
  return {prologue_of(forward),
          step_of(forward, type, false),
          step_of(forward, type, true),
          epilogue_of(forward),
          as_double(forward.tile.stages),
          forward.by_boxes() ? forward.kernel.warpgroups(forward.tile.warps) : 0,
          forward.tile.chains,
          forward.tile.waited_products};
}

Plan cleared_counter() {
  Plan plan;
  plan.launch.block[0] = 32;
  plan.launch.registers = 16;
  Step step;
  set_traffic(step.issued, {0, kSectorBytes});
  set_blocks(plan, {{step}});
  return plan;
}

Plan sum_of_parts(const Forward& c) {
  const PartSums& sums = c.sums;
  const std::int64_t warps = std::max(sums.warps_of_row, std::int64_t{4});
  const std::int64_t rows = c.shape.batch * c.shape.heads * c.shape.seq_q;
  const double outputs = as_double(rows * c.shape.head_dim);
  Plan plan;
  plan.launch.grid[0] = ceil_div(rows, warps / sums.warps_of_row);
  plan.launch.block[0] = 32 * warps;
  plan.launch.registers = 40;
  plan.useful.vector_flops = outputs * as_double(c.splits) * 2;
  plan.useful.special_flops = as_double(rows * c.splits);
  plan.arrays = {scratch(kParts, {c.part_bytes(), 0}), writes(kO, c.shape.q_bytes())};
  double written = c.shape.q_bytes();
  if (c.writes_lse) {
    plan.arrays.push_back(writes(kLse, c.shape.rows_bytes()));
    written += c.shape.rows_bytes();
  }
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.issued.vector_flops = plan.useful.vector_flops / blocks;
  step.issued.special_flops = plan.useful.special_flops / blocks;
  step.warp_instructions = outputs / blocks / 32 * (as_double(c.splits) * 1.5 + 4);
  set_traffic(step.issued, {c.part_bytes() / blocks, written / blocks});
  // The log-sum-exps, then parts; what warps have of a row meets in shared memory.
  step.waits.global = 1 + as_double(ceil_div(c.splits, sums.parts_at_once.value_or(c.splits)));
  if (sums.warps_of_row > 1) {
    step.waits.barriers = 1;
    step.waits.shared = as_double(sums.warps_of_row);
    plan.launch.shared_bytes = sums.shared_bytes;
  }
  set_blocks(plan, {{step}});
  plan.notes.estimated_traffic = true;
  plan.notes.caveat = "registers are a guess";
  return plan;
}

}  // namespace roofcast::attention
