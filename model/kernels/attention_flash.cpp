// attention.flash2 and attention.flash3.
#include <algorithm>
#include <string>

#include "model/kernels/attention_backward.hpp"
#include "model/kernels/attention_models.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// Counted in the kernels: scale and offset in one multiply-add, the maximum, the exponential, the sum
// and half of a conversion to a pair; in flash2 also half a multiplication of O a step; a comparison
// and a selection.
constexpr Kernel kMma = {Instruction::mma_sync, 4.5, 0.5, 2};
constexpr Kernel kWgmma = {Instruction::wgmma, 4.5, 0, 2};
// Backward: a multiply-add and the exponential, a subtraction, a product, half a conversion each of P
// and dS, and half a store of dS; an addition in memory takes one of two elements, or of four.
constexpr Kernel kMmaBackward = {Instruction::mma_sync, 5.5, 0.5, 2};
constexpr Kernel kWgmmaBackward = {Instruction::wgmma, 5.5, 0.25, 2};

std::size_t head_row(const Shape& shape) {
  return shape.head_dim <= kHeadDims[0] ? 0 : shape.head_dim <= kHeadDims[1] ? 1 : 2;
}

// Tiles of the heads that run together, longest first; which of K and V comes from DRAM again follows
// from that order.
void set_tiles(Plan& plan, const Forward& c, DType type) {
  const Shape& s = c.shape;
  const std::int64_t heads = s.batch * s.heads;
  const auto kv_bytes = static_cast<std::int64_t>(as_double(s.seq_kv) * s.row_bytes());
  const std::int64_t together = heads_together(heads, s.group(), kv_bytes, s.causal);
  std::vector<Steps> tiles;
  double steps = 0;
  for (std::int64_t i = c.tiles(); i-- > 0;) {
    tiles.push_back(c.steps(i));
    steps += tiles.back().all();
  }
  add_blocks(plan, forward_blocks(c, type), tiles, {heads, together});
  const double panel = steps / as_double(c.tiles()) * 2 * as_double(c.tile.keys) * s.row_bytes();
  plan.raster = TileRaster{.tile_rows = s.batch * s.kv_heads,
                           .tile_columns = c.tiles() * s.group(),
                           .group_rows = std::max<std::int64_t>(1, together / s.group()),
                           .row_panel_bytes = panel};
  // Blocks that run together find K and V in L2 with one access: no limit rests on more.
  plan.free_read_bytes =
      std::max(0.0, issued_by_launch(plan).l2.read_bytes - s.q_bytes() - 2 * s.kv_bytes());
}

// Of self-attention all that comes in was just computed, else K and V are a cache.
std::vector<ArrayUse> forward_arrays(const Shape& s) {
  const auto kv = s.seq_q == s.seq_kv ? reads_activation : reads;
  return {reads_activation(kQ, s.q_bytes()), kv(kK, s.kv_bytes()), kv(kV, s.kv_bytes()),
          writes(kO, s.q_bytes()), writes(kLse, s.rows_bytes())};
}

Plan forward_plan(const Forward& c, DType type) {
  Plan plan;
  plan.copies_ahead = true;
  plan.needs = {c.kernel.product, c.kernel.wide() ? Instruction::bulk_copy : Instruction::cp_async};
  plan.useful.tensor_flops[type] = c.shape.flops();
  plan.useful.special_flops = c.shape.scores();
  plan.arrays = forward_arrays(c.shape);
  set_tiles(plan, c, type);
  plan.caveat = kUnmeasured;
  return plan;
}

double on_chip_bytes(const Forward& c, const Launch& launch) {
  return as_double(c.tile.queries) * c.head() * kSumElement + as_double(launch.shared_bytes);
}

Program flash2_forward(const Shape& shape, DType type) {
  const Flash2Tile& tile = kFlash2Tiles[head_row(shape)];
  const Forward c{.shape = shape,
                  .kernel = kMma,
                  .tile = {.queries = tile.queries,
                           .keys = tile.keys,
                           .warps = tile.warps,
                           .rows_per_warp = tile.queries / tile.warps,
                           .stages = tile.stages,
                           .blocks_per_sm = tile.blocks},
                  .writes_lse = true};
  Plan plan = forward_plan(c, type);
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = tile.threads();
  plan.launch.registers = registers_left(tile.threads(), tile.blocks);
  plan.launch.shared_bytes = tile.shared_bytes();
  plan.on_chip_bytes = on_chip_bytes(c, plan.launch);
  return launch_of(std::move(plan));
}

// A block stays on its SM. Where a mask makes tiles unequal, blocks take the next one from a counter.
Program flash3_forward(const Shape& shape, DType type, const Gpu& gpu) {
  const Flash3Tile& tile = kFlash3Tiles[shape.causal ? 1 : 0][head_row(shape)];
  const Forward c{.shape = shape,
                  .kernel = kWgmma,
                  .tile = {.queries = tile.queries,
                           .keys = tile.keys,
                           .warps = tile.threads() / 32,
                           .rows_per_warp = 64,
                           .stages = tile.stages,
                           .blocks_per_sm = 1,
                           .alternates = true},
                  .writes_lse = true};
  Plan plan = forward_plan(c, type);
  plan.assignment = shape.causal ? Assignment::queue : Assignment::persistent;
  plan.launch.grid[0] = std::min(c.blocks(), gpu.sm_count.value_or(1));
  plan.launch.block[0] = tile.threads();
  plan.launch.registers = registers_left(tile.threads(), 1);
  plan.launch.shared_bytes = tile.shared_bytes();
  plan.on_chip_bytes = on_chip_bytes(c, plan.launch);
  return launch_of(std::move(plan));
}

Backward flash2_backward(const Shape& shape, DqSum dq) {
  const Flash2BackwardTile& keys = kFlash2BackwardTiles[head_row(shape)];
  const Flash2Tile& queries = kFlash2DqTiles[head_row(shape)];
  constexpr std::int64_t kRowLanes = 16;
  const auto row = static_cast<std::int64_t>(shape.row_bytes());
  return {.shape = shape,
          .kernel = kMmaBackward,
          .keys = {.queries = keys.queries,
                   .keys = keys.keys,
                   .warps = keys.threads() / 32,
                   .warps_across = keys.warps_across,
                   .stages = keys.stages,
                   .registers = registers_left(keys.threads(), keys.blocks),
                   .shared_bytes = keys.shared_bytes(dq),
                   .together = heads_together(shape.batch * shape.kv_heads, 1,
                                              shape.group() * shape.seq_q * row, shape.causal)},
          .rows = {shape.seq_q, shape.head_dim, kRowLanes},
          .dq = dq,
          .queries = {.queries = queries.queries,
                      .keys = queries.keys,
                      .warps = queries.warps,
                      .warps_across = 1,
                      .stages = queries.stages,
                      .registers = registers_left(queries.threads(), queries.blocks),
                      .shared_bytes = queries.shared_bytes(),
                      .together = heads_together(shape.batch * shape.heads, shape.group(),
                                                 shape.seq_kv * row, shape.causal)}};
}

Backward flash3_backward(const Shape& shape, DqSum dq) {
  const Flash3BackwardTile& keys = kFlash3BackwardTiles[head_row(shape)];
  const Flash3DqTile& queries = kFlash3DqTiles[head_row(shape)];
  // As kernels/attention/flash3_backward.cu has it: rows in units of 128, and heads together whose
  // blocks read no more than that again and again.
  constexpr std::int64_t kPaddedRows = 128, kTogetherBytes = std::int64_t{32} << 20;
  const auto together = [&](std::int64_t rows, std::int64_t element, std::int64_t heads) {
    return std::clamp(kTogetherBytes / (rows * element * shape.head_dim), std::int64_t{1}, heads);
  };
  const std::int64_t width = keys.head_dim;
  return {.shape = shape,
          .kernel = kWgmmaBackward,
          .keys = {.queries = keys.queries,
                   .keys = keys.keys,
                   .warps = Flash3BackwardTile::threads() / 32,
                   .warps_across = 1,
                   .stages = keys.stages,
                   .registers = registers_left(Flash3BackwardTile::threads(), 1),
                   .shared_bytes = keys.shared_bytes(),
                   .together = together(shape.group() * shape.seq_q, dq == kAtomic ? 8 : 4,
                                        shape.batch * shape.kv_heads)},
          .rows = {ceil_div(shape.seq_q, kPaddedRows) * kPaddedRows, width, width / 8},
          .dq = dq,
          .queries = {.queries = queries.queries,
                      .keys = queries.keys,
                      .warps = Flash3DqTile::threads() / 32,
                      .warps_across = 1,
                      .stages = queries.stages,
                      .registers = registers_left(Flash3DqTile::threads(), 1),
                      .shared_bytes = queries.shared_bytes(),
                      .together = together(shape.seq_kv, 4, shape.batch * shape.heads)}};
}

Program backward_of(const Backward& backward, DType type) {
  Program program = backward_program(backward, type);
  for (Node& node : program) node.plan.caveat = kUnmeasured;
  return program;
}

}  // namespace

void check_computable(const Problem& p, const Shape& shape, const Gpu& gpu) {
  if (!gpu.sm.tensor_flop_per_clk[p.dtype]) {
    throw InputError(gpu.name + " has no tensor cores for " + std::string(name(p.dtype)) +
                     ": choose another type (`roofcast gpus " + gpu.name + "`)");
  }
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

Program plan_flash2(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (!shape.backward) return flash2_forward(shape, p.dtype);
  return backward_of(flash2_backward(shape, static_cast<DqSum>(p[kDq])), p.dtype);
}

Program plan_flash3(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (!shape.backward) return flash3_forward(shape, p.dtype, gpu);
  return backward_of(flash3_backward(shape, static_cast<DqSum>(p[kDq])), p.dtype);
}

}  // namespace roofcast::attention
