#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// Of the steps, which end at `end` or beyond it, the share of their rows before it.
double share_before(std::int64_t end, std::int64_t first_step, std::int64_t steps,
                    std::int64_t rows) {
  if (steps == 0) return 1;
  const std::int64_t there = std::min(end, (first_step + steps) * rows) - first_step * rows;
  return as_double(there) / as_double(steps * rows);
}

// What the threads of a block issue for the scores of a step.
double score_instructions(const Forward& c, bool masked) {
  return c.kernel.instructions_a_score + (masked ? c.kernel.instructions_a_mask : 0) +
         c.kernel.instructions_a_sum * c.head() / as_double(c.tile.keys);
}

// Of a thread for an element of K and of V: conversions, multiply-adds, and its part of the sums
// over threads. By hand to attention_decode.csv, groups of more than 32 heads over 256
// keys that stay in L2, rows of the device of 3.35 TB/s.
constexpr double kVectorInstructions = 12.5;

Step step_of(const Forward& c, DType type, bool masked) {
  const double scores = as_double(c.tile.queries * c.tile.keys);
  Step step;
  step.issued.special_flops = scores;
  const double kv_bytes = 2 * as_double(c.tile.keys) * c.shape.row_bytes();
  set_traffic(step.issued, {2 * as_double(c.tile.keys) * c.copied_row(), 0});
  double instructions = score_instructions(c, masked);
  const double rows = as_double(c.tile.queries);
  if (!c.tile.products) {
    step.issued.vector_flops = 4 * scores * c.head();
    instructions += kVectorInstructions * c.head();
    step.waits.global = 2;  // K, then V
  } else if (c.kernel.wide() && c.tile.dependent_loads == 0) {
    // Each 64 rows read K, Q and V; P stays in registers.
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    step.issued.shared_bytes = kv_bytes * (rows / 64 + 1) + rows * c.shape.row_bytes();
  } else {
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    instructions += 4 * c.head() * kInstructionsAFlop;
    // Warps that hold different queries read all of K and V each.
    const double readers = std::max(1.0, rows / as_double(c.tile.rows_per_warp));
    step.issued.shared_bytes = (readers + 1) * kv_bytes;
    step.wavefronts.shared = step.issued.shared_bytes / 128;
  }
  step.warp_instructions = scores / 32 * instructions;
  if (c.tile.products) step.waits.tile_loads = 1;
  step.waits.arithmetic = c.tile.waits_of_step;
  step.waits.barriers = 1;
  return step;
}

Step prologue_of(const Forward& c) {
  Step step;
  const double rows = c.by_boxes() ? as_double(c.tile.queries) : c.full_rows();
  set_traffic(step.issued, {rows * c.copied_row(), 0});
  step.waits = {.global = c.tile.dependent_loads,
                .tile_loads = c.tile.alternates || !c.tile.products ? 0.0 : 1.0,
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
  step.issued.special_flops = as_double(c.tile.queries);
  step.warp_instructions =
      as_double(c.tile.queries) * c.head() * c.kernel.instructions_a_result / 32;
  return step;
}

Work scaled_traffic(Work issued, double share) {
  for (Traffic* level : {&issued.requested, &issued.l1, &issued.l2}) *level = share * *level;
  return issued;
}

/// Tiles that count as equal.
struct Run {
  Steps each;
  std::int64_t tiles;
};

Run mean_of(const Run* from, const Run* end) {
  Run mean{{0, 0, 0, 0}, 0};
  for (const Run* run = from; run != end; ++run) {
    const double tiles = as_double(run->tiles);
    mean.tiles += run->tiles;
    mean.each.full += tiles * run->each.full;
    mean.each.masked += tiles * run->each.masked;
    mean.each.full_share += tiles * run->each.full * run->each.full_share;
    mean.each.masked_share += tiles * run->each.masked * run->each.masked_share;
  }
  const auto divide = [](double& share, double by) { share = by > 0 ? share / by : 1; };
  divide(mean.each.full_share, mean.each.full);
  divide(mean.each.masked_share, mean.each.masked);
  mean.each.full /= as_double(mean.tiles);
  mean.each.masked /= as_double(mean.tiles);
  return mean;
}

constexpr std::size_t kMostClasses = 64;

std::vector<Run> runs_of(const std::vector<Steps>& tiles) {
  std::vector<Run> runs;
  for (const Steps& each : tiles) {
    if (!runs.empty() && runs.back().each == each) {
      ++runs.back().tiles;
    } else {
      runs.push_back({each, 1});
    }
  }
  if (runs.size() <= kMostClasses) return runs;
  const std::size_t together = (runs.size() + kMostClasses - 1) / kMostClasses;
  std::vector<Run> fewer;
  for (std::size_t from = 0; from < runs.size(); from += together) {
    const std::size_t end = std::min(runs.size(), from + together);
    fewer.push_back(mean_of(&runs[from], runs.data() + end));
  }
  return fewer;
}

}  // namespace

ArrayUse kv_input(const Shape& shape, ArrayId array) {
  const auto use = shape.seq_q == shape.seq_kv ? reads_activation : reads;
  return use(array, shape.kv_bytes());
}

std::vector<ArrayUse> forward_inputs(const Shape& shape) {
  return {reads_activation(kQ, shape.q_bytes()), kv_input(shape, kK), kv_input(shape, kV)};
}

Steps steps_over_keys(const Shape& shape, std::int64_t first, std::int64_t last,
                      std::int64_t keys) {
  const std::int64_t seen = shape.visible(last);
  const std::int64_t all = ceil_div(seen, keys);
  const std::int64_t full = std::min(all, shape.visible(first) / keys);
  return {as_double(full), as_double(all - full), 1,
          share_before(shape.seq_kv, full, all - full, keys)};
}

Steps steps_over_queries(const Shape& shape, std::int64_t first, std::int64_t last,
                         std::int64_t queries) {
  const std::int64_t tiles = ceil_div(shape.seq_q, queries);
  std::int64_t begin = 0, unmasked = 0;
  if (shape.causal) {
    // The first query that sees a key, and so all of the keys before it.
    const auto seen_from = [&](std::int64_t key) {
      return std::clamp(key - shape.seq_kv + shape.seq_q, std::int64_t{0}, shape.seq_q);
    };
    begin = std::min(tiles, seen_from(first) / queries);
    unmasked = std::clamp(ceil_div(seen_from(last), queries), begin, tiles);
  }
  return {as_double(tiles - unmasked), as_double(unmasked - begin),
          share_before(shape.seq_q, unmasked, tiles - unmasked, queries),
          share_before(shape.seq_q, begin, unmasked - begin, queries)};
}

double mean_rows(const std::vector<Steps>& blocks, std::int64_t tile, std::int64_t extent) {
  double sum = 0;
  for (const Steps& each : blocks) sum += std::min(each.all() * as_double(tile), as_double(extent));
  return sum / as_double(static_cast<std::int64_t>(blocks.size()));
}

BlockClass block_class(const BlockSteps& blocks, std::int64_t count, const Steps& steps) {
  BlockClass result;
  result.count = count;
  result.phases.push_back({blocks.prologue});
  const auto add = [&](Step step, double repeats, double share) {
    if (repeats <= 0) return;
    if (share < 1) step.issued = scaled_traffic(step.issued, share);
    result.phases.push_back({step, repeats, blocks.stages, blocks.groups, blocks.chains});
  };
  add(blocks.full, steps.full, steps.full_share);
  add(blocks.masked, steps.masked, steps.masked_share);
  result.phases.push_back({blocks.epilogue});
  return result;
}

double copied_row_bytes(const Shape& shape, double padded, bool by_boxes) {
  constexpr double kSector = 32, kLine = 128;
  const std::int64_t chunk = 16, chunks = static_cast<std::int64_t>(shape.row_bytes()) / chunk;
  const bool apart = chunks % 2 != 0;  // every other row begins between sectors
  if (by_boxes) return padded * shape.element * (apart ? 1 + kSector / kLine : 1);
  const double sectors = as_double(ceil_div(chunks, 2));
  return kSector * (apart ? (sectors + as_double(chunks)) / 2 : sectors);
}

bool Forward::by_boxes() const {
  return kernel.wide() && tile.products && tile.dependent_loads == 0;
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
  const bool whole = shape.seq_q % tile.queries == 0 && shape.seq_kv % tile.keys == 0;
  if (tile.masks_one_more && shape.causal && !whole && steps.full > 0) {
    --steps.full;
    ++steps.masked;
  }
  if (by_boxes()) steps.full_share = steps.masked_share = 1;
  return steps;
}

BlockSteps forward_blocks(const Forward& forward, DType type) {
  return {prologue_of(forward),
          step_of(forward, type, false),
          step_of(forward, type, true),
          epilogue_of(forward),
          as_double(forward.tile.stages) + 1,
          forward.by_boxes() ? forward.kernel.warpgroups(forward.tile.warps) : 0,
          forward.tile.chains};
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

void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& longest_first,
                const Order& order) {
  const std::vector<Run> runs = runs_of(longest_first);
  const std::int64_t parties = ceil_div(order.copies, order.together);
  const auto classes = static_cast<std::int64_t>(runs.size());
  const bool apart = classes > 1 && parties <= static_cast<std::int64_t>(kMostClasses) / classes;
  const std::int64_t together = apart ? std::min(order.together, order.copies) : order.copies;
  for (std::int64_t from = 0; from < order.copies; from += together) {
    const std::int64_t copies = std::min(together, order.copies - from);
    for (const Run& run : runs) {
      plan.blocks.push_back(block_class(blocks, run.tiles * copies, run.each));
    }
  }
}

}  // namespace roofcast::attention
