// attention.decode: few queries against a long cache of keys.
#include <algorithm>
#include <set>
#include <utility>

#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::attention {
namespace {

using decoding::kMostRows, decoding::kTiles, decoding::kUnitKeys;

// Warp instructions outside the units: a constant, and a term per element of the head dim. From
// hardware counters: the compiled straight-line code has paths that a launch does not take.
constexpr double kEndsInstructions = 630, kEndsElementInstructions = 6;

Shape checked_shape(const Problem& p, const Gpu& gpu) {
  const Shape shape = computable_shape(p, gpu);
  require(!shape.backward, "attention.decode is forward only: leave out --pass");
  const std::int64_t rows = shape.seq_q * shape.group();
  require(rows <= kMostRows, rows, " queries of a group of heads: attention.decode takes up to ",
          kMostRows, ", use attention.flash2 or attention.flash3");
  return shape;
}

const decoding::Tile& tile_for(const Shape& shape) {
  return kTiles[head_row(shape.head_dim)];
}

// A step is one unit of each warp.
Blocks forward_of(const Shape& shape, std::int64_t splits) {
  constexpr std::int64_t kLoadsOfWarp = 4;  // in flight per warp
  const decoding::Tile& t = tile_for(shape);
  const compiled::Kernel kernel =
      compiled::kernel("attention::decoding::decode_kernel", shape.type, head_row(shape.head_dim));
  const Tile tile{
      .queries = kMostRows,
      .keys = kUnitKeys * t.warps,
      .warps = t.warps,
      .stages = t.stages,
      .registers = kernel.registers,
      .shared_bytes = t.shared_bytes() + t.static_shared_bytes(),
      .step_instructions = as_double(t.warps) * kernel.loops[2],
      .block_instructions = as_double(t.warps) *
                            (kEndsInstructions + kEndsElementInstructions * as_double(t.head_dim)),
      .waits = {.tile_loads = 1}};
  return {.shape = shape,
          .kernel = {.product = Instruction::mma_sync},
          .tile = tile,
          .width = t.head_dim,
          .splits = splits,
          .writes_lse = true,
          .packed = shape.group(),
          .sums = {.warps_of_row = decoding::kCombineWarps,
                   .parts_at_once = decoding::kCombineWarps * kLoadsOfWarp}};
}

// Prologue (copies of all stages and Q) and epilogue (sums through shared memory) take half of a
// block's other instructions each. kEndsWavefronts: four rows of a warp conflict in the same banks.
void set_ends(BlockSteps& blocks, const Blocks& c) {
  constexpr double kEndsWavefronts = 10;
  const double half = c.tile.block_instructions / 2;
  blocks.prologue.warp_instructions = blocks.epilogue.warp_instructions = half;
  const double dependent = kDependentShare * half / as_double(c.tile.warps);
  blocks.prologue.waits.global = 1;  // Q, before the first product
  blocks.prologue.waits.arithmetic = dependent;
  blocks.epilogue.wavefronts.shared = kEndsWavefronts * as_double(c.width);
  // The maxima and sums of all warps are merged, then their parts of O; divisions and logarithms.
  blocks.epilogue.waits = {.shared = 12, .arithmetic = 100 + dependent, .barriers = 2};
}

Plan main_launch(const Blocks& c, const Gpu& gpu) {
  const double warps = as_double(c.tile.warps);
  Plan plan = forward_plan(c, gpu);
  plan.on_chip_bytes = as_double(kMostRows * c.tile.warps * c.width) * kSumElement +
                       as_double(plan.launch.shared_bytes);
  BlockSteps steps = block_steps(c);
  set_ends(steps, c);
  // Each warp reads K and V of its own unit, and Q, from shared memory.
  steps.loop.step.wavefronts.shared =
      as_double(tile_for(c.shape).stage_bytes() + kMostRows * c.width * 2) * warps / 128;
  steps.loop.groups = warps;
  deal_keys(plan, c, steps, kUnitKeys);
  return plan;
}

}  // namespace

// Candidates with at least one unit per warp: few splits, one block per SM, 1 to kMostRounds waves.
std::vector<Problem> decode_candidates(const Problem& p, const Gpu& gpu) {
  if (p[kDecodeSplits] != kToChoose) return {p};
  const Shape shape = checked_shape(p, gpu);
  const std::int64_t whole = shape.batch * shape.kv_heads;  // blocks where keys are not split
  const std::int64_t places = gpu.slots(tile_for(shape).blocks);
  const std::int64_t units = ceil_div(shape.seq_kv, kUnitKeys);
  const std::int64_t most =
      std::clamp(units / tile_for(shape).warps, std::int64_t{1}, decoding::kMostSplits);
  constexpr std::int64_t kMostRounds = 4;
  std::set<std::int64_t> splits = {1, 2, 3, 4, 6, 8, std::min(most, gpu.slots(1) / whole)};
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    splits.insert(std::min(most, rounds * places / whole));
  }
  std::vector<Problem> found;
  for (const std::int64_t parts : splits) {
    if (parts < 1 || parts > most || (parts - 1) * whole >= kMostRounds * places) continue;
    found.emplace_back(p)[kDecodeSplits] = parts;
  }
  return found;
}

LaunchSequence plan_decode(const Problem& p, const Gpu& gpu) {
  const Shape shape = checked_shape(p, gpu);
  const std::int64_t most = std::min(ceil_div(shape.seq_kv, kUnitKeys), decoding::kMostSplits);
  require(p[kDecodeSplits] >= 1 && p[kDecodeSplits] <= most, "splits is ", p[kDecodeSplits],
          ": give 1 to ", most, ", a unit of ", kUnitKeys, " keys each at least");
  const Blocks c = forward_of(shape, p[kDecodeSplits]);
  LaunchSequence sequence = launch_of(main_launch(c, gpu));
  if (c.splits > 1) {
    Plan sum = sum_of_parts(c);
    sum.launch.shared_bytes = decoding::kCombineSharedBytes;
    sum.launch.registers = compiled::registers("attention::decoding::combine_kernel", p.dtype);
    if (gpu.features.has_clusters()) sum.start = Start::programmatic;
    sequence.push_back({std::move(sum)});
  }
  return sequence;
}

}  // namespace roofcast::attention
