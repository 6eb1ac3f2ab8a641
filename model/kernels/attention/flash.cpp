// attention.flash2 and attention.flash3.
#include <algorithm>
#include <array>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/attention/flash_counts.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::attention {
namespace {

// As the counters say, instead of what any kernel of its kind does.
void set_counts(BlockSteps& blocks, const Forward& c, const Counted& counted) {
  const double scores = as_double(c.tile.queries * c.tile.keys);
  const double rescaled = c.kernel.instructions_a_sum * c.head() / as_double(c.tile.keys);
  const double a_score = counted.a_score + rescaled;
  for (Step* step : {&blocks.full, &blocks.masked}) {
    const double mask = step == &blocks.masked ? kMaskInstructions : 0;
    step->warp_instructions = scores * (a_score + mask) / 32;
  }
  const double rows = c.kernel.wide() ? as_double(c.tile.queries) : c.full_rows();
  blocks.epilogue.warp_instructions = rows * counted.a_row / 32;
}

// Tiles of the heads that run together, longest first; which of K and V comes from DRAM again
// follows from that order.
void set_tiles(Plan& plan, const Forward& c, DType type, const Counted& counted) {
  const Shape& s = c.shape;
  const std::int64_t heads = s.batch * s.heads;
  const auto kv_bytes = static_cast<std::int64_t>(as_double(s.seq_kv) * s.row_bytes());
  const std::int64_t together = heads_together(heads, s.group(), kv_bytes, s.causal);
  std::vector<Steps> tiles;
  for (std::int64_t i = c.tiles(); i-- > 0;) tiles.push_back(c.steps(i));
  BlockSteps blocks = forward_blocks(c, type);
  set_counts(blocks, c, counted);
  add_blocks(plan, blocks, tiles, {heads, together});
  const double panel = mean_rows(tiles, c.tile.keys, s.seq_kv) * 2 * s.row_bytes();
  plan.raster = TileRaster{.tile_rows = s.batch * s.kv_heads,
                           .tile_columns = c.tiles() * s.group(),
                           .group_rows = std::max<std::int64_t>(1, together / s.group()),
                           .row_panel_bytes = panel,
                           .rolling = true};
  // Blocks that run together find K and V in L2 with one access: no limit rests on more.
  plan.joined.most = std::max(0.0, l2_of_launch(plan).read_bytes - s.q_bytes() - 2 * s.kv_bytes());
}

Plan forward_plan(const Forward& c, DType type, const Counted& counted) {
  Plan plan;
  plan.needs = {c.kernel.product, c.kernel.copy()};
  plan.useful.tensor_flops[type] = c.shape.flops();
  plan.useful.special_flops = c.shape.scores();
  plan.arrays = forward_inputs(c.shape);
  plan.arrays.push_back(writes(kO, c.shape.q_bytes()));
  plan.arrays.push_back(writes(kLse, c.shape.rows_bytes()));
  set_tiles(plan, c, type, counted);
  return plan;
}

LaunchSequence flash2_forward(const Shape& shape, DType type) {
  const Flash2Tile& tile = kFlash2Tiles[head_row(shape.head_dim)];
  const Forward c{.shape = shape,
                  .kernel = kMmaForward,
                  .tile = {.queries = tile.queries,
                           .keys = tile.keys,
                           .warps = tile.warps,
                           .rows_per_warp = tile.queries / tile.warps,
                           .stages = tile.stages,
                           .blocks_per_sm = tile.blocks,
                           .chains = kUnrolled},
                  .writes_lse = true};
  Plan plan = forward_plan(c, type, kFlash2Forward[head_row(shape.head_dim)]);
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = tile.threads();
  plan.launch.registers =
      compiled::registers("attention::mma::forward_kernel", type, head_row(shape.head_dim));
  plan.launch.shared_bytes = tile.shared_bytes();
  plan.on_chip_bytes = c.on_chip_bytes(plan.launch.shared_bytes);
  return launch_of(std::move(plan));
}

// A block stays on its SM. Where a mask makes tiles unequal, blocks take the next one from a
// counter.
LaunchSequence flash3_forward(const Shape& shape, DType type, const Gpu& gpu) {
  const Flash3Tile& tile = kFlash3Tiles[shape.causal ? 1 : 0][head_row(shape.head_dim)];
  const Forward c{.shape = shape,
                  .kernel = kWgmma,
                  .tile = {.queries = tile.queries,
                           .keys = tile.keys,
                           .warps = tile.threads() / 32,
                           .rows_per_warp = 64,
                           .stages = tile.stages,
                           .blocks_per_sm = 1,
                           .alternates = true,
                           .waited_products = kWaitsForScores},
                  .writes_lse = true};
  Plan plan = forward_plan(c, type, kFlash3Forward[head_row(shape.head_dim)]);
  plan.scheduler = shape.causal ? TileScheduler::queue : TileScheduler::persistent;
  plan.launch.grid[0] = std::min(c.blocks(), gpu.sm_count.value_or(1));
  plan.launch.block[0] = tile.threads();
  plan.launch.registers = compiled::registers("attention::forward_kernel", type, tile.head_dim,
                                              tile.queries, tile.keys, tile.stages, tile.stages_q);
  plan.launch.shared_bytes = tile.shared_bytes();
  plan.on_chip_bytes = c.on_chip_bytes(plan.launch.shared_bytes);
  LaunchSequence program = launch_of(std::move(plan));
  // The counter is set to zero before; the program begins with the kernel that it is about.
  if (shape.causal) program.push_back({cleared_counter()});
  return program;
}

}  // namespace

void check_computable(const Problem& p, const Shape& shape, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  constexpr std::int64_t kWidth = 8;  // 16 bytes
  if (shape.head_dim % kWidth != 0) {
    throw InputError("head_dim is " + std::to_string(shape.head_dim) +
                     ": these kernels copy 16 bytes at a time, give a multiple of 8");
  }
  if (shape.visible(0) == 0) {
    throw InputError("a causal mask with fewer keys (" + std::to_string(shape.seq_kv) +
                     ") than queries (" + std::to_string(shape.seq_q) +
                     ") leaves queries without a key: give at least as many keys");
  }
}

Work training_work(const Problem& p) {
  const Shape shape(p);
  Work work = kFamily.work(p);
  if (!shape.backward) work.compulsory.write_bytes += shape.rows_bytes();
  return work;
}

LaunchSequence plan_flash2(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (!shape.backward) return flash2_forward(shape, p.dtype);
  return backward_program(flash2_backward(shape, static_cast<DqSum>(p[kDq]), p.dtype), p.dtype);
}

LaunchSequence plan_flash3(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (!shape.backward) return flash3_forward(shape, p.dtype, gpu);
  return backward_program(flash3_backward(shape, static_cast<DqSum>(p[kDq]), p.dtype), p.dtype);
}

}  // namespace roofcast::attention
