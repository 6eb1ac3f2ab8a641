#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"

namespace roofcast::attention {
namespace {

// Thread instructions per FLOP: an m16n8k16 mma does 4096 FLOP, one ldmatrix feeds four of them.
constexpr double kInstructionsAFlop = 32.0 / 4096 * (1 + 1.0 / 4);

// Warp instructions of a block in one step, masked or not.
double step_instructions(const Blocks& b, bool masked) {
  // Mask, per thread and score: the compiled loop contains it, and unmasked steps skip it.
  constexpr double kOfCompiledMask = 3.5;
  const double scores = as_double(b.tile.queries * b.tile.keys), head = as_double(b.width);
  if (b.tile.step_instructions > 0) {
    return b.tile.step_instructions - (masked ? 0 : kOfCompiledMask * scores / 32);
  }
  const double queries = as_double(b.tile.queries);
  // Accumulator elements that a step rescales or adds to, one instruction each.
  const double sums = (b.keys_stationary ? 0 : queries * head) + queries * b.dq_row_elements;
  const double multiplying = !b.kernel.on_tensor_cores() ? b.kernel.vector_instructions * head
                             : b.kernel.async_mma()      ? 0
                                                    : 2 * b.products() * head * kInstructionsAFlop;
  const double a_score =
      b.kernel.instructions_a_score + multiplying + (masked ? b.kernel.instructions_a_mask : 0);
  return (scores * a_score + sums) / 32;
}

Step step_of(const Blocks& b) {
  const double scores = as_double(b.tile.queries * b.tile.keys);
  const double rows = as_double(b.rows_passing()), queries = as_double(b.tile.queries);
  const double flops = 2 * b.products() * as_double(b.width) * scores;
  Step step;
  step.issued.special_flops = scores;
  set_traffic(step.issued,
              {rows * (2 * b.copied_row_bytes() + (b.keys_stationary ? kRowNumbers : 0)),
               queries * b.dq_row_elements * kSumElement});
  if (b.kernel.on_tensor_cores()) {
    step.issued.tensor_flops[b.shape.type] = flops;
    // Lower bound: the streamed tile is written to shared memory and read from it once.
    step.issued.shared_bytes = 2 * rows * b.passing_row_bytes();
  } else {
    step.issued.vector_flops = flops;
  }
  step.warp_instructions = step_instructions(b, false);
  step.waits = b.tile.waits;
  return step;
}

// Code of a block: each masked step has a copy of its own, unmasked steps are a loop. Without a
// mask the first step is a copy of the loop.
double code_bytes(const BlockSteps& blocks, const Steps& steps, double warps) {
  constexpr double kInstructionBytes = 16;
  if (!blocks.copies_masked) return 0;
  const double loops = std::min(steps.full, steps.masked > 0 ? 1.0 : 2.0);
  const double instructions = blocks.epilogue.warp_instructions +
                              steps.masked * blocks.masked_instructions +
                              loops * blocks.loop.step.warp_instructions;
  return instructions / warps * kInstructionBytes;
}

double mean_rows(const std::vector<Steps>& tiles, std::int64_t rows, std::int64_t extent) {
  double sum = 0;
  for (const Steps& each : tiles) sum += std::min(each.all() * as_double(rows), as_double(extent));
  return sum / static_cast<double>(tiles.size());
}

/// Neighbouring tiles that count as equal.
struct Run {
  Steps each;
  std::int64_t tiles;
};

// At most `most` runs: beyond that, neighbouring tiles are replaced by their mean.
std::vector<Run> runs_of(const std::vector<Steps>& tiles, std::size_t most) {
  const std::size_t together = (tiles.size() + most - 1) / most;
  std::vector<Run> runs;
  for (std::size_t first = 0; first < tiles.size(); first += together) {
    const std::size_t end = std::min(tiles.size(), first + together);
    const auto count = static_cast<std::int64_t>(end - first);
    Steps sum;
    for (std::size_t i = first; i < end; ++i) {
      sum.full += tiles[i].full;
      sum.masked += tiles[i].masked;
    }
    const Steps mean{sum.full / as_double(count), sum.masked / as_double(count)};
    if (runs.empty() || !(runs.back().each == mean)) runs.push_back({mean, 0});
    runs.back().tiles += count;
  }
  return runs;
}

// The first splits of a tile take `each` steps, one takes the remainder, later ones write zeros.
void add_parts(Plan& plan, const BlockSteps& blocks, std::int64_t tiles, const Steps& all,
               std::int64_t splits) {
  if (splits == 1) return add_class(plan, blocks, tiles, all);
  const double each = std::max(1.0, std::ceil(all.all() / as_double(splits)));
  const auto whole = static_cast<std::int64_t>(all.all() / each);
  const double rest = all.all() - as_double(whole) * each;
  const std::int64_t part = rest > 0 ? 1 : 0;
  add_class(plan, blocks, tiles * whole, {each, 0});
  add_class(plan, blocks, tiles * part, {rest, 0});
  add_class(plan, blocks, tiles * (splits - whole - part), {0, 0});
}

}  // namespace

double Blocks::written() const {
  if (shape.backward) return (keys_stationary ? 2 : 1) * shape.row_bytes();
  // Each row of a part comes with one scale factor.
  if (splits > 1) return (as_double(shape.head_dim) + 1) * kSumElement;
  return shape.row_bytes() + (writes_lse ? kSumElement : 0);
}

double Blocks::copied_row_bytes() const {
  if (kernel.by_boxes()) return as_double(width) * shape.element;
  return kSectorBytes * std::ceil(shape.row_bytes() / kSectorBytes);
}

BlockSteps block_steps(const Blocks& b) {
  // Mean rows of a tile. Rows beyond the last are not written, but whole TMA boxes copy them.
  const double there = as_double(b.rows()) / as_double(b.tiles());
  const double copied = b.kernel.by_boxes() ? as_double(b.rows_held()) : there;
  // Forward keeps a row of Q; backward a row of Q and of dO with lse and D, or a row of K and of V.
  const double row = b.copied_row_bytes(), numbers = b.keys_stationary ? 0 : kRowNumbers;
  Step prologue, epilogue;
  set_traffic(prologue.issued, {copied * (b.shape.backward ? 2 * row + numbers : row), 0});
  prologue.waits = b.tile.waits_before;
  set_traffic(epilogue.issued, {0, there * b.written()});
  epilogue.warp_instructions = b.tile.block_instructions;
  const Phase loop{.step = step_of(b),
                   .ahead = as_double(b.tile.stages),
                   .groups = b.kernel.async_mma() ? as_double(multiplying_groups(b.tile.warps)) : 0,
                   .chains = b.tile.chains,
                   .waited_products = b.tile.waited_products};
  return {prologue, loop, step_instructions(b, true), epilogue, b.tile.masked_copies > 0};
}

Steps steps_over_keys(const Shape& shape, std::int64_t first, std::int64_t last,
                      std::int64_t keys) {
  const std::int64_t seen = shape.visible(last);
  const std::int64_t all = ceil_div(seen, keys);
  const std::int64_t full = std::min(all, shape.visible(first) / keys);
  return {as_double(full), as_double(all - full)};
}

Steps steps_over_queries(const Shape& shape, std::int64_t first, std::int64_t last,
                         std::int64_t queries) {
  const std::int64_t tiles = ceil_div(shape.seq_q, queries);
  std::int64_t begin = 0, unmasked = 0;
  if (shape.causal) {
    // The first query that sees `key`, and so every key before it.
    const auto seen_from = [&](std::int64_t key) {
      return std::clamp(key - shape.seq_kv + shape.seq_q, std::int64_t{0}, shape.seq_q);
    };
    begin = std::min(tiles, seen_from(first) / queries);
    unmasked = std::clamp(ceil_div(seen_from(last), queries), begin, tiles);
  }
  return {as_double(tiles - unmasked), as_double(unmasked - begin)};
}

std::vector<Steps> steps_of_tiles(const Blocks& b) {
  std::vector<Steps> tiles;
  for (std::int64_t first = 0; first < b.rows(); first += b.rows_held()) {
    const std::int64_t end = std::min(b.rows(), first + b.rows_held());
    Steps steps = b.keys_stationary ? steps_over_queries(b.shape, first, end - 1, b.tile.queries)
                                    : steps_over_keys(b.shape, first / b.packed,
                                                      ceil_div(end, b.packed) - 1, b.tile.keys);
    if (b.tile.masked_copies > 0 && b.shape.causal) {
      const double all = steps.all();
      steps.masked = std::min(all, as_double(b.tile.masked_copies));
      steps.full = all - steps.masked;
    }
    if (b.keys_stationary) {
      steps.full *= as_double(b.packed);
      steps.masked *= as_double(b.packed);
    }
    tiles.push_back(steps);
  }
  // Longest first: the last queries see the most keys; tiles of keys are already in that order.
  if (!b.keys_stationary && !b.tile.in_order) std::reverse(tiles.begin(), tiles.end());
  return tiles;
}

void add_class(Plan& plan, const BlockSteps& blocks, std::int64_t count, const Steps& steps) {
  if (count <= 0) return;
  std::vector<Phase> phases = {{blocks.prologue}};
  phases.front().step.code_bytes = code_bytes(blocks, steps, plan.launch.warps());
  Phase loop = blocks.loop;
  Work& issued = loop.step.issued;
  for (Traffic* level : {&issued.requested, &issued.l1, &issued.l2}) *level = steps.share * *level;
  const auto add = [&](double repeats) {
    if (repeats <= 0) return;
    loop.repeats = repeats;
    phases.push_back(loop);
  };
  add(steps.full);
  loop.step.warp_instructions = blocks.masked_instructions;
  add(steps.masked);
  phases.push_back({blocks.epilogue});
  plan.blocks.push_back({count, std::move(phases)});
}

void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& tiles,
                std::int64_t copies, std::int64_t together, std::int64_t splits) {
  constexpr std::int64_t kMostClasses = 32, kMostGroups = 8;
  // Heads run in groups of `together`. Only the last groups can leave SMs idle: earlier ones form
  // one.
  std::int64_t groups = std::min(kMostGroups, ceil_div(copies, together));
  const std::vector<Run> runs = runs_of(tiles, static_cast<std::size_t>(kMostClasses / groups));
  if (runs.size() == 1) groups = 1;
  const std::int64_t last = (copies - 1) % together + 1;
  for (std::int64_t left = copies; groups > 0; --groups) {
    const std::int64_t behind = groups > 1 ? (groups - 2) * together + last : 0;
    for (const Run& run : runs) {
      add_parts(plan, blocks, run.tiles * (left - behind), run.each, splits);
    }
    left = behind;
  }
}

Plan plan_of(const Blocks& b) {
  Plan plan = launch_plan(b.tiles() * b.heads() * b.splits, {b.tile.warps * 32, 1, 1},
                          b.tile.registers, b.tile.shared_bytes);
  plan.needs = {b.kernel.product, b.kernel.copy()};
  (b.kernel.on_tensor_cores() ? plan.useful.tensor_flops[b.shape.type] : plan.useful.vector_flops) =
      b.products() * b.shape.product_flops();
  // Without tensor memory every exponential goes through the special-function unit.
  if (!b.kernel.in_tensor_memory()) plan.useful.special_flops = b.shape.scores();
  plan.scheduler = b.tile.scheduler;
  const std::int64_t sums = (b.keys_stationary ? 2 : 1) * b.rows_held() * b.width;
  plan.on_chip_bytes = as_double(sums) * kSumElement + as_double(b.tile.shared_bytes);
  return plan;
}

void add_tiles(Plan& plan, const Blocks& b, const BlockSteps& steps) {
  const std::vector<Steps> tiles = steps_of_tiles(b);
  const std::int64_t group = b.keys_stationary ? 1 : b.shape.group();
  const double rows =
      mean_rows(tiles, b.rows_passing(), b.keys_stationary ? b.shape.seq_q : b.shape.seq_kv);
  const double sums = rows * b.dq_row_elements * kSumElement;
  plan.raster = TileRaster{.tile_rows = b.heads() / group,
                           .tile_columns = b.tiles() * group,
                           .group_rows = std::max<std::int64_t>(1, b.tile.together / group),
                           .row_panel_bytes = rows * b.passing_row_bytes() + sums};
  add_blocks(plan, steps, tiles, b.heads(), b.tile.together);
  // Concurrent blocks may share accesses to L2, so the limit counts one read of each array.
  double more = issued_by_launch(plan).l2.read_bytes;
  for (const ArrayUse& use : plan.arrays) more -= use.compulsory.read_bytes;
  plan.coalesced.most = std::max(0.0, more);
}

}  // namespace roofcast::attention
