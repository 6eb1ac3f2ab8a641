// attention.decode: few queries against a long cache of keys.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/attention/decode.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::attention {
namespace {

using decoding::kMostRows;
using decoding::kTiles;
using decoding::kUnitKeys;

// Of a warp for a unit of keys, and for each of their elements of the head, by the counters.
constexpr double kUnitInstructions = 115, kElementInstructions = 1.72;

Shape checked_shape(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  check_computable(p, shape, gpu);
  if (shape.backward) {
    throw InputError("attention.decode is forward only: leave out --pass");
  }
  const std::int64_t rows = shape.seq_q * shape.group();
  if (rows > kMostRows) {
    throw InputError(std::to_string(rows) +
                     " queries of a group of heads: attention.decode takes up to " +
                     std::to_string(kMostRows) + ", use attention.flash2 or attention.flash3");
  }
  return shape;
}

const decoding::Tile& tile_for(const Shape& shape) {
  return kTiles[head_row(shape.head_dim)];
}

std::int64_t units_of(const Shape& shape) {
  return ceil_div(shape.seq_kv, kUnitKeys);
}

Forward forward_of(const Shape& shape, std::int64_t splits) {
  const decoding::Tile& tile = tile_for(shape);
  return {.shape = shape,
          .kernel = {.product = Instruction::mma_sync},
          .tile = {.queries = kMostRows,
                   .keys = kUnitKeys,
                   .warps = tile.warps,
                   .rows_per_warp = kMostRows,
                   .stages = tile.stages,
                   .blocks_per_sm = tile.blocks,
                   .deals_keys = true},
          .packed = shape.group(),
          .splits = splits,
          .writes_lse = true};
}

// A unit of each warp: all of them read K, V and, again, Q from shared memory.
Step round_of(const Shape& shape, const decoding::Tile& tile, DType type) {
  const double d = as_double(tile.head_dim), warps = as_double(tile.warps);
  const double scores = as_double(kMostRows * kUnitKeys) * warps;
  const double passed = 2 * as_double(kUnitKeys) * shape.row_bytes() * warps;
  Step step;
  step.issued.tensor_flops[type] = 4 * scores * d;
  step.issued.special_flops = scores;
  step.issued.shared_bytes = 2 * passed;
  step.wavefronts.shared =
      (as_double(tile.stage_bytes()) + as_double(kMostRows) * d * shape.element) * warps / 128;
  const double keys = as_double(kUnitKeys) * warps;
  set_traffic(step.issued, {2 * keys * copied_row_bytes(shape, d, false), 0});
  // Of one unit: K from shared memory, a product after the other along d, the maximum of four
  // lanes, the exponentials, V and its products.
  constexpr double kProductWaits = 8;  // latency of mma.sync in multiply-adds: 33 cycles (L24)
  step.waits = {.tile_loads = 1, .shared = 7, .arithmetic = (d / 32 + 2) * kProductWaits + 20};
  step.warp_instructions = warps * (kUnitInstructions + kElementInstructions * d);
  return step;
}

// Instructions of a warp beside its units: half before them, for the copies of all stages and Q,
// half after them, for sums through shared memory. And cycles of shared memory for an element of
// the head dim: four rows of a warp's sums meet in the same banks.
constexpr double kEndsInstructions = 630, kEndsElementInstructions = 6, kEndsWavefronts = 10;

void set_ends(BlockSteps& blocks, const decoding::Tile& tile) {
  const double d = as_double(tile.head_dim);
  const double half =
      as_double(tile.warps) * (kEndsInstructions + kEndsElementInstructions * d) / 2;
  blocks.prologue.warp_instructions = blocks.epilogue.warp_instructions = half;
  // Addresses, conversions and sums follow from one another: of five instructions two wait for the
  // one before (sm_cycles of the same cases).
  constexpr double kDependent = 0.4;
  const double dependent = kDependent * half / as_double(tile.warps);
  blocks.prologue.waits.global = 1;  // Q, before anything is multiplied
  blocks.prologue.waits.arithmetic = dependent;
  blocks.epilogue.wavefronts.shared = kEndsWavefronts * d;
  // Maxima and sums of the warps, then sums; divisions and logarithms.
  blocks.epilogue.waits = {.shared = 12, .arithmetic = 100 + dependent, .barriers = 2};
}

// Of so many units, which the warps share out.
BlockClass blocks_of(const Forward& c, DType type, std::int64_t count, std::int64_t units) {
  const decoding::Tile& tile = tile_for(c.shape);
  BlockSteps blocks = forward_blocks(c, type);
  set_ends(blocks, tile);
  blocks.full = round_of(c.shape, tile, type);
  blocks.ahead = as_double(tile.stages);
  blocks.groups = as_double(tile.warps);
  const double there = as_double(c.shape.seq_kv) / as_double(units_of(c.shape) * kUnitKeys);
  return block_class(blocks, count, {as_double(units) / as_double(tile.warps), 0, there, 1});
}

Plan main_launch(const Forward& c, DType type) {
  const Shape& s = c.shape;
  const decoding::Tile& tile = tile_for(s);
  Plan plan;
  plan.needs = {Instruction::mma_sync, Instruction::cp_async};
  plan.useful.tensor_flops[type] = s.flops();
  plan.useful.special_flops = s.scores();
  plan.arrays = forward_inputs(s);
  if (c.splits > 1) {
    plan.arrays.push_back(scratch(kParts, {0, c.part_bytes()}));
  } else {
    plan.arrays.push_back(writes(kO, s.q_bytes()));
    plan.arrays.push_back(writes(kLse, s.rows_bytes()));
  }
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = tile.threads();
  plan.launch.shared_bytes = tile.shared_bytes() + tile.static_shared_bytes();
  plan.launch.registers =
      compiled::registers("attention::decoding::decode_kernel", type, head_row(s.head_dim));
  plan.on_chip_bytes = as_double(kMostRows * tile.warps) * c.head() * kSumElement +
                       as_double(plan.launch.shared_bytes);
  // A split leaves some blocks a unit more than others.
  const std::int64_t units = units_of(s), longer = units % c.splits;
  if (longer > 0) {
    plan.blocks.push_back(blocks_of(c, type, longer * c.copies(), units / c.splits + 1));
  }
  plan.blocks.push_back(blocks_of(c, type, (c.splits - longer) * c.copies(), units / c.splits));
  return plan;
}

}  // namespace

// Parts that give each warp a unit: few, and as many as fill the SMs once, or their places once or
// several times.
std::vector<Problem> decode_candidates(const Problem& p, const Gpu& gpu) {
  if (p[kDecodeSplits] != kToChoose) return {p};
  const Shape shape = checked_shape(p, gpu);
  const Forward whole = forward_of(shape, 1);
  const std::int64_t places = gpu.slots(tile_for(shape).blocks);
  const std::int64_t most =
      std::clamp(units_of(shape) / tile_for(shape).warps, std::int64_t{1}, decoding::kMostSplits);
  constexpr std::int64_t kMostRounds = 4;
  std::set<std::int64_t> splits = {1, 2, 3, 4, 6, 8, gpu.slots(1) / whole.blocks()};
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    splits.insert(rounds * places / whole.blocks());
  }
  std::vector<Problem> found;
  for (const std::int64_t parts : splits) {
    const bool useful = parts <= most && (parts - 1) * whole.blocks() < kMostRounds * places;
    if (parts < 1 || (parts > 1 && !useful)) continue;
    found.push_back(p);
    found.back()[kDecodeSplits] = parts;
  }
  return found;
}

LaunchSequence plan_decode(const Problem& p, const Gpu& gpu) {
  const Shape shape = checked_shape(p, gpu);
  const std::int64_t most = std::min(units_of(shape), decoding::kMostSplits);
  if (p[kDecodeSplits] < 1 || p[kDecodeSplits] > most) {
    throw InputError("splits is " + std::to_string(p[kDecodeSplits]) + ": give 1 to " +
                     std::to_string(most) + ", a unit of " + std::to_string(kUnitKeys) +
                     " keys each at least");
  }
  Forward c = forward_of(shape, p[kDecodeSplits]);
  constexpr std::int64_t kLoadsOfWarp = 4;  // in flight
  c.sums = {.warps_of_row = decoding::kCombineWarps,
            .parts_at_once = decoding::kCombineWarps * kLoadsOfWarp,
            .shared_bytes = decoding::kCombineSharedBytes};
  LaunchSequence program = launch_of(main_launch(c, p.dtype));
  if (c.splits > 1) {
    Plan sum = sum_of_parts(c);
    sum.launch.registers = compiled::registers("attention::decoding::combine_kernel", p.dtype);
    if (gpu.features.has_clusters()) sum.start = Start::programmatic;
    program.push_back({std::move(sum)});
  }
  return program;
}

}  // namespace roofcast::attention
