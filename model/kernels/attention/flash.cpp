// attention.flash2 and attention.flash3.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/attention/backward.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// Of a thread for a score that a mask cuts: a comparison and a selection.
constexpr double kMaskInstructions = 2;
constexpr Kernel kMma = {.product = Instruction::mma_sync,
                         .instructions_a_mask = kMaskInstructions};
constexpr Kernel kWgmma = {.product = Instruction::wgmma, .instructions_a_mask = kMaskInstructions};

// By head dim: instructions of a thread for a score of a step, and for a row of the block before
// and after its steps. By warp_instructions of full shapes of 1024 to 16384 keys, which tell one
// from the other (the attention run in validation/measured); passes beside the blocks
// are counted apart.
struct Counted {
  double a_score, a_row;
};
// Without the multiplications of O where a maximum grew.
constexpr std::array<Counted, 3> kFlash2Forward = {{{8.3, 950}, {12.2, 1540}, {21.4, 2730}}};
constexpr std::array<Counted, 3> kFlash3Forward = {{{6.5, 760}, {6.3, 1480}, {9.2, 1800}}};
constexpr std::array<Counted, 3> kFlash2Keys = {{{23.4, 2670}, {34.5, 3440}, {93.9, 4970}}};
constexpr std::array<Counted, 3> kFlash3Keys = {{{9.4, 320}, {13.0, 640}, {26.7, 1280}}};
// Two passes, no run: as much as of five products that the kernel has.
constexpr double kWithoutDq = 4.0 / 5, kDqAlone = 3.0 / 5;

// A warp of mma.sync has several products under way, fewer where warps exchange P and dS. A
// warpgroup multiplies S of a tile and P·V of the one before while it takes exponentials; one where
// the head is shared out waits for the other.
constexpr double kUnrolled = 4.5, kTwoChains = 2, kOneChain = 1;

// Of the steps of a tile, those in which the maximum of one of so many rows grows, with scores in
// any order: step t has the largest of t of a row with the chance 1/t.
double growing_share(double steps, double rows) {
  constexpr int kFew = 256;  // beyond those the chance is rows/t
  double growing = 0;
  for (int t = 1; t <= kFew && t <= steps; ++t) growing += 1 - std::pow(1 - 1.0 / t, rows);
  if (steps > kFew) growing += rows * std::log(steps / kFew);
  return std::min(1.0, growing / std::max(1.0, steps));
}

// Bytes through shared memory of a score. Copies to it are not among shared_wavefronts.
//
// flash2: warps read K and V for their own rows, and Q in every step.
double shared_bytes_of(const Flash2Tile& tile) {
  const double d = as_double(tile.head_dim), keys = as_double(tile.keys);
  const double rows = as_double(tile.queries) / tile.warps;
  return tile.held == 1 ? 4 * d / rows + 2 * d / keys : 6 * d / rows + 4 * d / keys;
}

constexpr double kRowNumberBytes = 4;  // log-sum-exp and D, for 16 rows a warp: two wavefronts each

// A warp reads K and V for each part of the queries, and Q and dO for its own keys; dS (and P) are
// written; dQ is shared out as 32 rows and 32 columns a warp.
double shared_bytes_of(const Flash2BackwardTile& tile, DqSum dq) {
  const double d = as_double(tile.head_dim), keys = as_double(tile.keys);
  const double queries = as_double(tile.queries), at_once = as_double(tile.at_once);
  const double warps = as_double(tile.threads()) / 32, across = tile.warps_across;
  const double rows = keys / tile.warps_down;
  const bool exchanges = across > 1;
  double elements = 2 * warps * (rows + at_once / across) * d * queries / at_once;
  elements += 2 * warps * (queries * d / across + (exchanges ? rows * queries : 0));
  elements += (exchanges ? 2 : dq == kAtomic ? 1 : 0) * keys * queries;
  if (dq == kAtomic) elements += warps * (32 + 32) * keys;
  return 2 * elements / (keys * queries) + kRowNumberBytes * 16 / rows;
}

// The same of a warpgroup, whose instructions read 64 rows of A, unless they are in registers, and
// all columns of B.
double shared_bytes_of(const Flash3BackwardTile& tile, DqSum dq) {
  constexpr double kRows = 64;
  const double d = as_double(tile.head_dim), keys = as_double(tile.keys);
  const double queries = as_double(tile.queries);
  const double own_queries = tile.splits_head() ? queries / 2 : queries;
  const double own_d = tile.splits_head() ? d / 2 : d;
  double elements = 2 * (kRows + own_queries) * d + 2 * queries * own_d;
  if (tile.splits_head()) elements += 2 * kRows * queries + 2 * kRows * own_queries;
  if (dq == kAtomic) {
    elements += kRows * keys + keys * (queries > kRows ? d : d / 2) + kRows * own_queries;
  }
  return 2 * elements / (kRows * own_queries) + kRowNumberBytes;
}
double shared_bytes_of(const Flash3DqTile& tile) {
  constexpr double kRows = 64;
  const double d = as_double(tile.head_dim), keys = as_double(tile.keys);
  return 2 * (2 * (kRows + keys) * d + keys * d) / (kRows * keys) + kRowNumberBytes;
}

// As the counters say, instead of what any kernel of its kind does.
void set_counts(BlockSteps& blocks, const Forward& c, const Counted& counted, double steps,
                double shared_bytes) {
  const double scores = as_double(c.tile.queries * c.tile.keys);
  double a_score = counted.a_score;
  if (!c.kernel.wide()) {
    a_score +=
        growing_share(steps, as_double(c.tile.rows_per_warp)) * c.head() / as_double(c.tile.keys);
  }
  for (Step* step : {&blocks.full, &blocks.masked}) {
    const double mask = step == &blocks.masked ? kMaskInstructions : 0;
    step->warp_instructions = scores * (a_score + mask) / 32;
    step->wavefronts.shared = scores * shared_bytes / 128;
  }
  blocks.epilogue.warp_instructions = as_double(c.tile.queries) * counted.a_row / 32;
}

// Tiles of the heads that run together, longest first; which of K and V comes from DRAM again
// follows from that order.
void set_tiles(Plan& plan, const Forward& c, DType type, const Counted& counted,
               double shared_bytes) {
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
  BlockSteps blocks = forward_blocks(c, type);
  set_counts(blocks, c, counted, steps / as_double(c.tiles()), shared_bytes);
  add_blocks(plan, blocks, tiles, {heads, together});
  const double panel = mean_rows(tiles, c.tile.keys, s.seq_kv) * 2 * s.row_bytes();
  plan.raster = TileRaster{.tile_rows = s.batch * s.kv_heads,
                           .tile_columns = c.tiles() * s.group(),
                           .group_rows = std::max<std::int64_t>(1, together / s.group()),
                           .row_panel_bytes = panel};
  // Blocks that run together find K and V in L2 with one access: no limit rests on more.
  plan.joined.most =
      std::max(0.0, issued_by_launch(plan).l2.read_bytes - s.q_bytes() - 2 * s.kv_bytes());
}

Plan forward_plan(const Forward& c, DType type, const Counted& counted, double shared_bytes) {
  Plan plan;
  plan.needs = {c.kernel.product, c.kernel.copy()};
  plan.useful.tensor_flops[type] = c.shape.flops();
  plan.useful.special_flops = c.shape.scores();
  plan.arrays = forward_inputs(c.shape);
  plan.arrays.push_back(writes(kO, c.shape.q_bytes()));
  plan.arrays.push_back(writes(kLse, c.shape.rows_bytes()));
  set_tiles(plan, c, type, counted, shared_bytes);
  return plan;
}

LaunchSequence flash2_forward(const Shape& shape, DType type) {
  const Flash2Tile& tile = kFlash2Tiles[head_row(shape.head_dim)];
  const Forward c{.shape = shape,
                  .kernel = kMma,
                  .tile = {.queries = tile.queries,
                           .keys = tile.keys,
                           .warps = tile.warps,
                           .rows_per_warp = tile.queries / tile.warps,
                           .stages = tile.stages,
                           .blocks_per_sm = tile.blocks,
                           .chains = kUnrolled},
                  .writes_lse = true};
  Plan plan =
      forward_plan(c, type, kFlash2Forward[head_row(shape.head_dim)], shared_bytes_of(tile));
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = tile.threads();
  plan.launch.registers = tile.registers;
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
                           .chains = kTwoChains},
                  .writes_lse = true};
  // What instructions read of shared memory lies beneath their products: one warpgroup multiplies
  // while another takes exponentials.
  constexpr double kBeneath = 0;
  Plan plan = forward_plan(c, type, kFlash3Forward[head_row(shape.head_dim)], kBeneath);
  plan.scheduler = shape.causal ? TileScheduler::queue : TileScheduler::persistent;
  plan.launch.grid[0] = std::min(c.blocks(), gpu.sm_count.value_or(1));
  plan.launch.block[0] = tile.threads();
  plan.launch.registers = registers_left(tile.threads(), 1);
  plan.launch.shared_bytes = tile.shared_bytes();
  plan.on_chip_bytes = c.on_chip_bytes(plan.launch.shared_bytes);
  LaunchSequence program = launch_of(std::move(plan));
  // The counter is set to zero before; the program begins with the kernel that it is about.
  if (shape.causal) program.push_back({cleared_counter()});
  return program;
}

// Of a step, for each part whose scores are held at a time: two chains of products along d, the
// exponentials, dS, and the first products of dV and dK; then operands from shared memory.
Waits waits_of(const Flash2BackwardTile& tile) {
  constexpr double kProductWaits = 8;  // latency of mma.sync in multiply-adds: 33 cycles (L24)
  constexpr double kExponentialWaits = 15;
  const double parts = as_double(tile.queries / tile.at_once);
  const double products = 2 * as_double(tile.head_dim) / 16 + 2;
  return {.shared = 2 * parts,
          .arithmetic = parts * (products * kProductWaits + kExponentialWaits),
          .barriers = 2};
}

Backward flash2_backward(const Shape& shape, DqSum dq) {
  const Flash2BackwardTile& keys = kFlash2BackwardTiles[head_row(shape.head_dim)];
  const Flash2Tile& queries = kFlash2DqTiles[head_row(shape.head_dim)];
  constexpr std::int64_t kRowLanes = 16;
  constexpr double kDotsInstructions = 40, kRoundInstructions = 16, kAdditionBytes = 32;
  const Counted& counted = kFlash2Keys[head_row(shape.head_dim)];
  const auto row = static_cast<std::int64_t>(shape.row_bytes());
  return {
      .shape = shape,
      .kernel = kMma,
      .keys = {.queries = keys.queries,
               .keys = keys.keys,
               .warps = keys.threads() / 32,
               .warps_across = keys.warps_across,
               .stages = keys.stages,
               .registers = keys.registers[dq],
               .shared_bytes = keys.shared_bytes(dq),
               .together = heads_together(shape.batch * shape.kv_heads, 1,
                                          shape.group() * shape.seq_q * row, shape.causal),
               .counts = {counted.a_score * (dq == kAtomic ? 1 : kWithoutDq),
                          shared_bytes_of(keys, dq), counted.a_row, kAdditionBytes, waits_of(keys)},
               .chains = kUnrolled},
      .rows = {shape.seq_q, shape.head_dim, kRowLanes, kDotsInstructions, kRoundInstructions},
      .dq = dq,
      .queries = {.queries = queries.queries,
                  .keys = queries.keys,
                  .warps = queries.warps,
                  .warps_across = 1,
                  .stages = queries.stages,
                  .registers = queries.registers,
                  .shared_bytes = queries.shared_bytes(),
                  .together = heads_together(shape.batch * shape.heads, shape.group(),
                                             shape.seq_kv * row, shape.causal),
                  .counts = {counted.a_score * kDqAlone, shared_bytes_of(queries),
                             counted.a_row / 2, kAdditionBytes},
                  .chains = kUnrolled}};
}

Backward flash3_backward(const Shape& shape, DqSum dq) {
  const Flash3BackwardTile& keys = kFlash3BackwardTiles[head_row(shape.head_dim)];
  const Flash3DqTile& queries = kFlash3DqTiles[head_row(shape.head_dim)];
  // Of an element of the head: Q and dO, and dQ's sums.
  const std::int64_t read_by_keys = shape.group() * shape.seq_q * (dq == kAtomic ? 8 : 4);
  const std::int64_t width = keys.head_dim;
  // Divisions of 64 bits find the place of a thread.
  constexpr double kDotsInstructions = 220, kRoundInstructions = 230, kAdditionBytes = 128;
  constexpr std::int64_t kDotsRegisters = 26, kRoundRegisters = 24;
  const Counted& counted = kFlash3Keys[head_row(shape.head_dim)];
  // Blocks of queries never share out the head, nor exchange P and dS.
  const Counted& whole = keys.splits_head() ? kFlash3Keys[1] : counted;
  return {.shape = shape,
          .kernel = kWgmma,
          .keys = {.queries = keys.queries,
                   .keys = keys.keys,
                   .warps = Flash3BackwardTile::threads() / 32,
                   .warps_across = 1,
                   .stages = keys.stages,
                   .registers = registers_left(Flash3BackwardTile::threads(), 1),
                   .shared_bytes = keys.shared_bytes(),
                   .together = flash3_heads_together(shape.batch * shape.kv_heads,
                                                     read_by_keys * shape.head_dim),
                   .counts = {counted.a_score * (dq == kAtomic ? 1 : kWithoutDq),
                              shared_bytes_of(keys, dq), counted.a_row, kAdditionBytes},
                   .chains = keys.splits_head() ? kOneChain : kTwoChains},
          .rows = {padded_queries(shape.seq_q), width, width / 8, kDotsInstructions,
                   kRoundInstructions, kDotsRegisters, kRoundRegisters},
          .dq = dq,
          .queries = {.queries = queries.queries,
                      .keys = queries.keys,
                      .warps = Flash3DqTile::threads() / 32,
                      .warps_across = 1,
                      .stages = queries.stages,
                      .registers = registers_left(Flash3DqTile::threads(), 1),
                      .shared_bytes = queries.shared_bytes(),
                      .together = flash3_heads_together(shape.batch * shape.heads,
                                                        shape.seq_kv * 4 * shape.head_dim),
                      .counts = {whole.a_score * kDqAlone, shared_bytes_of(queries),
                                 counted.a_row / 2, kAdditionBytes},
                      .chains = kTwoChains}};
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
  return backward_program(flash2_backward(shape, static_cast<DqSum>(p[kDq])), p.dtype);
}

LaunchSequence plan_flash3(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (!shape.backward) return flash3_forward(shape, p.dtype, gpu);
  return backward_program(flash3_backward(shape, static_cast<DqSum>(p[kDq])), p.dtype);
}

}  // namespace roofcast::attention
