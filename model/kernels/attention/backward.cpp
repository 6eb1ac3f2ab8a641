#include "model/kernels/attention/backward.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

/// Of a block of keys or of queries.
struct Blocks {
  const Backward& c;
  const BackwardTile& tile;
  bool of_keys;  ///< with dV and dK; else with dQ
  bool adds_dq;

  /// Matrix products of a step: S, dP, and those of the sums.
  double products() const { return of_keys ? (adds_dq ? 5 : 4) : 3; }
};

// Elements of the operands of m by n results, k deep, that warps read from shared memory: each its
// own rows, unless they are in registers, and its own columns.
double read_by_warps(double m, double n, double k, double down, double across, bool rows_held) {
  return k * ((rows_held ? 0 : m * across) + n * down);
}

// Bytes through shared memory in a step, but for copies to it: dS (and P) on the way from sums to
// operands, and what products read. A warpgroup of wgmma reads as one warp of mma.sync does: 64
// rows, unless they are in registers, and all columns. dQ of blocks of keys is shared out by its
// rows as far as they go, 16 a warp or 64 a warpgroup, then by columns.
double shared_bytes_of_step(const Blocks& b) {
  const double rows = as_double(b.of_keys ? b.tile.keys : b.tile.queries);
  const double columns = as_double(b.of_keys ? b.tile.queries : b.tile.keys);
  const double d = b.c.head();
  constexpr double kWarpsOfGroup = 4, kRowsOfGroup = 64;
  constexpr double kRowNumberBytes = 4;  // log-sum-exp and D, for 16 rows: two wavefronts each
  const bool wide = b.c.kernel.wide();
  const double units =
      wide ? as_double(b.tile.warps) / kWarpsOfGroup - 1 : as_double(b.tile.warps);  // one copies
  const double rows_of_unit = kRowsOfGroup;
  const double across =
      wide ? std::max(1.0, units * rows_of_unit / rows) : as_double(b.tile.warps_across);
  const double down = units / across;
  const bool held = across <= 1;  // P and dS go from sums to operands in registers
  double elements = 2 * as_double(b.tile.parts) *
                    read_by_warps(rows, columns / as_double(b.tile.parts), d, down, across, false);
  if (!held) elements += 2 * rows * columns;
  elements += (b.of_keys ? 2 : 1) * read_by_warps(rows, d, columns, down, across, held);
  if (b.adds_dq) {
    const double dq_down =
        std::min(units, columns / (wide ? rows_of_unit : as_double(b.tile.dq_rows)));
    if (held) elements += rows * columns;  // dS alone
    elements += read_by_warps(columns, d, rows, dq_down, units / dq_down, false);
  }
  const double numbers =
      b.of_keys ? kRowNumberBytes * columns * down * (wide ? rows / down : 16) : 0;
  return elements * b.c.shape.element + numbers;
}

constexpr double kNumbersOfRow = 2;  // the log-sum-exp and D

double row_bytes_of_queries(const Shape& shape) {
  return 2 * shape.row_bytes() + kNumbersOfRow * kSumElement;
}
double row_bytes_of_keys(const Shape& shape) {
  return 2 * shape.row_bytes();
}

// Of the tile that passes.
double bytes_of_row(const Blocks& b) {
  return b.of_keys ? row_bytes_of_queries(b.c.shape) : row_bytes_of_keys(b.c.shape);
}
std::int64_t rows_of_step(const Blocks& b) {
  return b.of_keys ? b.tile.queries : b.tile.keys;
}
double bytes_of_step(const Blocks& b) {
  return as_double(rows_of_step(b)) * bytes_of_row(b);
}

// What L2 sends for a row of two matrices, and of queries for the numbers of the row.
double copied_rows(const Blocks& b, bool of_queries) {
  return 2 * copied_row_bytes(b.c.shape, b.c.head(), b.c.kernel.wide()) +
         (of_queries ? kNumbersOfRow * kSumElement : 0);
}
double copied_by_step(const Blocks& b) {
  return as_double(rows_of_step(b)) * copied_rows(b, b.of_keys);
}

Step step_of(const Blocks& b, DType type, bool masked) {
  const Kernel& kernel = b.c.kernel;
  const double scores = as_double(b.tile.queries * b.tile.keys);
  const double flops = 2 * b.products() * b.c.head();  // of a score
  const double sums = b.adds_dq ? as_double(b.tile.queries * b.c.rows.width) : 0;
  Step step;
  step.issued.tensor_flops[type] = flops * scores;
  step.issued.special_flops = scores;
  // The limit rests on what must go through: the tile that passes, in and out once.
  step.issued.shared_bytes = 2 * bytes_of_step(b);
  step.wavefronts.shared = shared_bytes_of_step(b) / 128;
  set_traffic(step.issued, {copied_by_step(b), sums * kSumElement});
  const double a_score = kernel.instructions_a_score + (masked ? kernel.instructions_a_mask : 0) +
                         (kernel.wide() ? 0 : flops * kInstructionsAFlop);
  step.warp_instructions = (scores * a_score + sums * kernel.instructions_a_sum) / 32;
  const StepCounts& counted = b.tile.counts;
  if (counted.instructions_a_score > 0) {
    const double masks = masked ? kernel.instructions_a_mask : 0;
    step.warp_instructions = scores * (counted.instructions_a_score + masks) / 32;
  }
  if (counted.addition_bytes > 0) {
    step.wavefronts.l1 = sums * kSumElement / counted.addition_bytes;
  }
  step.waits = counted.waits;
  step.waits.tile_loads = 1;
  return step;
}

// The tile that stays, on average: rows beyond the last are neither read nor written.
BlockSteps block_steps(const Blocks& b, DType type) {
  const Shape& s = b.c.shape;
  const double rows = b.of_keys ? as_double(s.seq_kv) / as_double(b.c.key_tiles())
                                : as_double(s.seq_q) / as_double(b.c.query_tiles());
  Step prologue, epilogue;
  const double copied =
      !b.c.kernel.wide() ? rows : as_double(b.of_keys ? b.tile.keys : b.tile.queries);
  set_traffic(prologue.issued, {copied * copied_rows(b, !b.of_keys), 0});
  prologue.waits = {.tile_loads = 1, .barriers = 1};
  set_traffic(epilogue.issued, {0, rows * (b.of_keys ? 2 : 1) * s.row_bytes()});
  epilogue.warp_instructions =
      copied * (b.tile.counts.instructions_a_row + b.c.head() * b.c.kernel.instructions_a_result) /
      32;
  return {prologue,      step_of(b, type, false),  step_of(b, type, true),
          epilogue,      as_double(b.tile.stages), b.c.kernel.warpgroups(b.tile.warps),
          b.tile.chains, b.tile.waited_products};
}

std::vector<Steps> longest_first(const Blocks& b) {
  std::vector<Steps> tiles;
  if (b.of_keys) {  // a mask hides the last keys from most queries
    for (std::int64_t i = 0; i < b.c.key_tiles(); ++i) tiles.push_back(b.c.steps_of_keys(i));
  } else {
    for (std::int64_t i = b.c.query_tiles(); i-- > 0;) tiles.push_back(b.c.steps_of_queries(i));
  }
  return tiles;
}

// The launch of either kind of blocks, without its arrays.
Plan blocks_plan(const Blocks& b, DType type) {
  const Shape& s = b.c.shape;
  const std::int64_t heads = b.of_keys ? b.c.key_heads() : b.c.query_heads();
  const std::int64_t group = b.of_keys ? 1 : s.group();
  const std::int64_t together = b.tile.together;
  const std::vector<Steps> tiles = longest_first(b);
  const double rows_passed = mean_rows(tiles, rows_of_step(b), b.of_keys ? s.seq_q : s.seq_kv);
  const double sums = b.adds_dq ? rows_passed * as_double(b.c.rows.width) * kSumElement : 0;
  const auto count = static_cast<std::int64_t>(tiles.size());

  Plan plan;
  plan.needs = {b.c.kernel.product, b.c.kernel.copy()};
  plan.useful.tensor_flops[type] =
      (b.of_keys ? b.products() : 1) * s.product_flops();  // S and dP once
  if (b.of_keys && b.c.kernel.product != Instruction::tcgen05) {
    plan.useful.special_flops = s.scores();
  }
  plan.launch.grid[0] = count * heads;
  plan.launch.block[0] = b.tile.warps * 32;
  plan.launch.registers = b.tile.registers;
  plan.launch.shared_bytes = b.tile.shared_bytes;
  plan.raster = TileRaster{.tile_rows = heads / group,
                           .tile_columns = count * group,
                           .group_rows = std::max<std::int64_t>(1, together / group),
                           .row_panel_bytes = rows_passed * bytes_of_row(b) + sums,
                           .row_panel_written = sums,
                           .rolling = true};
  const double rows = as_double(b.of_keys ? 2 * b.tile.keys : b.tile.queries);
  plan.on_chip_bytes = rows * b.c.head() * kSumElement + as_double(plan.launch.shared_bytes);
  add_blocks(plan, block_steps(b, type), tiles, {heads, together});
  // Blocks that run together find what they share in L2 with one access: no limit rests on more
  // than one read of each array.
  plan.joined.most =
      std::max(0.0, l2_of_launch(plan).read_bytes - 2 * s.q_bytes() - 2 * s.kv_bytes());
  return plan;
}

// What blocks of either kind read.
std::vector<ArrayUse> block_inputs(const Backward& c) {
  const Shape& s = c.shape;
  return {reads(kQ, s.q_bytes()), reads(kK, s.kv_bytes()), reads(kV, s.kv_bytes()),
          reads(kDO, s.q_bytes()), scratch(kRowDots, {c.row_number_bytes(), 0})};
}

Plan plan_of_keys(const Backward& c, DType type) {
  const Shape& s = c.shape;
  const bool adds = c.dq == kAtomic;
  Plan plan = blocks_plan({c, c.keys, true, adds}, type);
  plan.arrays = block_inputs(c);
  if (c.adds_over_groups()) {
    plan.arrays.push_back(scratch(kHeadDK, {0, c.head_kv_bytes()}));
    plan.arrays.push_back(scratch(kHeadDV, {0, c.head_kv_bytes()}));
  } else {
    plan.arrays.push_back(writes(kDK, s.kv_bytes()));
    plan.arrays.push_back(writes(kDV, s.kv_bytes()));
  }
  // What blocks add to is read and written where it has left L2.
  const double sums = c.dq_sum_bytes();
  if (adds) plan.arrays.push_back(scratch(kDqSums, {sums, sums}));
  return plan;
}

Plan plan_of_queries(const Backward& c, DType type) {
  Plan plan = blocks_plan({c, c.queries, false, false}, type);
  plan.arrays = block_inputs(c);
  plan.arrays.push_back(writes(kDQ, c.shape.q_bytes()));
  return plan;
}

}  // namespace

double Backward::head() const {
  return as_double(width.value_or(padded_head(shape.head_dim)));
}

std::int64_t Backward::query_heads() const {
  return shape.batch * shape.heads;
}

std::int64_t Backward::key_heads() const {
  return shape.batch * (heads_apart ? shape.heads : shape.kv_heads);
}

bool Backward::adds_over_groups() const {
  return heads_apart && shape.group() > 1;
}

double Backward::head_kv_bytes() const {
  return as_double(shape.group()) * shape.kv_bytes();
}

std::int64_t Backward::key_tiles() const {
  return ceil_div(shape.seq_kv, keys.keys);
}

std::int64_t Backward::query_tiles() const {
  return ceil_div(shape.seq_q, queries.queries);
}

double Backward::row_number_bytes() const {
  return as_double(query_heads()) * as_double(rows.rows) * kNumbersOfRow * kSumElement;
}

double Backward::dq_sum_bytes() const {
  return as_double(query_heads()) * as_double(rows.rows * rows.width) * kSumElement;
}

Steps Backward::steps_of_keys(std::int64_t tile) const {
  const std::int64_t last = std::min(shape.seq_kv, (tile + 1) * keys.keys) - 1;
  Steps steps = steps_over_queries(shape, tile * keys.keys, last, keys.queries);
  if (!heads_apart) {
    steps.full *= as_double(shape.group());
    steps.masked *= as_double(shape.group());
  }
  if (kernel.wide()) steps.full_share = steps.masked_share = 1;  // boxes are whole
  return steps;
}

Steps Backward::steps_of_queries(std::int64_t tile) const {
  const std::int64_t last = std::min(shape.seq_q, (tile + 1) * queries.queries) - 1;
  Steps steps = steps_over_keys(shape, tile * queries.queries, last, queries.keys);
  if (kernel.wide()) steps.full_share = steps.masked_share = 1;
  return steps;
}

LaunchSequence backward_program(const Backward& backward, DType type) {
  LaunchSequence program;
  program.push_back({row_dots(backward)});
  program.push_back({plan_of_keys(backward, type)});
  program.push_back(
      {backward.dq == kAtomic ? round_dq(backward) : plan_of_queries(backward, type)});
  if (backward.adds_over_groups()) {
    program.push_back({sum_over_group(backward, kHeadDK, kDK)});
    program.push_back({sum_over_group(backward, kHeadDV, kDV)});
  }
  return program;
}

}  // namespace roofcast::attention
