#include "model/kernels/attention/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/counting/totals.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// Of each lane for a FLOP of mma.sync: m16n8k16 does 4096, and an ldmatrix brings operands of four.
constexpr double kInstructionsAFlop = 32.0 / 4096 * (1 + 1.0 / 4);

double copied_row(const Blocks& b) {
  return copied_row_bytes(b.shape, b.width, b.kernel.by_boxes());
}

double instructions_a_score(const Blocks& b) {
  const double counted = b.tile.counts.instructions_a_score, head = as_double(b.width);
  if (counted > 0) return counted;
  const double multiplying = !b.kernel.on_tensor_cores() ? b.kernel.vector_instructions * head
                             : b.kernel.wide()           ? 0
                                               : 2 * b.products * head * kInstructionsAFlop;
  return b.kernel.instructions_a_score + multiplying;
}

Step step_of(const Blocks& b, DType type, bool masked) {
  const double scores = as_double(b.tile.queries * b.tile.keys);
  const double rows = as_double(b.rows_passing()), queries = as_double(b.tile.queries);
  const double flops = 2 * b.products * as_double(b.width) * scores;
  const double rescaled = b.keys_stay ? 0 : queries * as_double(b.width);
  const double added = queries * b.added;
  Step step;
  step.issued.special_flops = scores;
  set_traffic(step.issued,
              {rows * (2 * copied_row(b) + (b.keys_stay ? b.numbers : 0)), added * kSumElement});
  if (b.kernel.on_tensor_cores()) {
    step.issued.tensor_flops[type] = flops;
    // The limit rests on what must go through: the tile that passes, in and out once.
    step.issued.shared_bytes = 2 * rows * b.passing_row_bytes();
  } else {
    step.issued.vector_flops = flops;
  }
  const double a_score = instructions_a_score(b) + (masked ? b.kernel.instructions_a_mask : 0);
  step.warp_instructions =
      (scores * a_score + (rescaled + added) * b.kernel.instructions_a_sum) / 32;
  step.waits = b.tile.counts.waits;
  return step;
}

double mean_rows(const std::vector<Steps>& tiles, std::int64_t rows, std::int64_t extent) {
  double sum = 0;
  for (const Steps& each : tiles) sum += std::min(each.all() * as_double(rows), as_double(extent));
  return sum / static_cast<double>(tiles.size());
}

}  // namespace

double copied_row_bytes(const Shape& shape, std::int64_t width, bool by_boxes) {
  if (by_boxes) return as_double(width) * shape.element;
  return kSectorBytes * std::ceil(shape.row_bytes() / kSectorBytes);
}

BlockSteps block_steps(const Blocks& b, DType type) {
  // On average: rows beyond the last are not written, and read where boxes are whole.
  const double there = as_double(b.rows()) / as_double(b.tiles());
  const double copied = b.kernel.by_boxes() ? as_double(b.rows_held()) : there;
  Step prologue, epilogue;
  set_traffic(prologue.issued,
              {copied * (b.held * copied_row(b) + (b.keys_stay ? 0 : b.numbers)), 0});
  prologue.waits = b.tile.waits_before;
  set_traffic(epilogue.issued, {0, there * b.written});
  epilogue.warp_instructions = copied * b.tile.counts.instructions_a_row / 32;
  return {prologue,
          step_of(b, type, false),
          step_of(b, type, true),
          epilogue,
          as_double(b.tile.stages),
          b.kernel.wide() ? as_double(multiplying_groups(b.tile.warps)) : 0,
          b.tile.chains,
          b.tile.waited_products};
}

Plan even_launch(std::int64_t blocks, std::int64_t threads, std::vector<ArrayUse> arrays,
                 Step step) {
  Plan plan;
  plan.launch.grid[0] = blocks;
  plan.launch.block[0] = threads;
  plan.launch.registers = 32;
  plan.arrays = std::move(arrays);
  Traffic sum;
  for (const ArrayUse& use : plan.arrays) sum += use.footprint;
  set_traffic(step.issued, shared_by(sum, as_double(blocks)));
  set_blocks(plan, {{step}});
  plan.notes.caveat = "registers are a guess";
  return plan;
}

Plan launch_plan(const Blocks& b, std::int64_t splits, DType type) {
  Plan plan;
  plan.needs = {b.kernel.product, b.kernel.copy()};
  (b.kernel.on_tensor_cores() ? plan.useful.tensor_flops[type] : plan.useful.vector_flops) =
      b.products * b.shape.product_flops();
  // Without tensor memory every exponential goes through the special-function unit.
  if (b.kernel.product != Instruction::tcgen05) plan.useful.special_flops = b.shape.scores();
  plan.launch.grid[0] = b.tiles() * b.heads() * splits;
  plan.launch.block[0] = b.tile.warps * 32;
  plan.launch.registers = b.tile.registers;
  plan.launch.shared_bytes = b.tile.shared_bytes;
  plan.scheduler = b.tile.scheduler;
  const std::int64_t sums = (b.keys_stay ? 2 : 1) * b.rows_held() * b.width;
  plan.on_chip_bytes = as_double(sums) * kSumElement + as_double(b.tile.shared_bytes);
  return plan;
}

void add_tiles(Plan& plan, const Blocks& b, const BlockSteps& steps) {
  const std::vector<Steps> tiles = steps_of_tiles(b);
  const std::int64_t group = b.keys_stay ? 1 : b.shape.group();
  const double rows =
      mean_rows(tiles, b.rows_passing(), b.keys_stay ? b.shape.seq_q : b.shape.seq_kv);
  const double sums = rows * b.added * kSumElement;
  plan.raster = TileRaster{.tile_rows = b.heads() / group,
                           .tile_columns = b.tiles() * group,
                           .group_rows = std::max<std::int64_t>(1, b.tile.together / group),
                           .row_panel_bytes = rows * b.passing_row_bytes() + sums};
  add_blocks(plan, steps, tiles, b.heads(), b.tile.together);
  // Blocks that run together find what they share in L2 with one access: no limit rests on more
  // than one read of each array.
  double more = l2_of_launch(plan).read_bytes;
  for (const ArrayUse& use : plan.arrays) more -= use.compulsory.read_bytes;
  plan.joined.most = std::max(0.0, more);
}

}  // namespace roofcast::attention
