// gemm.skinny for more than 8 tokens: weights and tokens through a ring of shared memory.
#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/kernels/gemm/skinny.hpp"

namespace roofcast::gemm::tensor {
namespace {

using skinny::along_k;
using skinny::rows_of;
using skinny::tokens_of;
using skinny::weights_in_b;

/// The product and its ring.
struct Choice {
  Problem p;
  Sizes s;
  SkinnyRing ring;

  std::int64_t blocks() const { return p[kBatch] * p[kSplitK] * ceil_div(rows_of(p), ring.rows); }
  /// Of a block, at most.
  double steps() const { return as_double(ceil_div(ceil_div(p[kK], ring.depth), p[kSplitK])); }
  double weights() const { return weights_in_b(p) ? s.b() : s.a(); }
  double tokens() const { return weights_in_b(p) ? s.a() : s.b(); }
};

// Clocks of an SM for the products of one step. Each warp reads all tokens and its own rows of weights
// from shared memory, into which both were copied.
double math_cycles(const Choice& c, double share, const Gpu& gpu) {
  const double rate = (gpu.features.has(Instruction::wgmma) ? share : 1) *
                      gpu.sm.tensor_flop_per_clk[c.p.dtype].value_or(1);
  const double arithmetic = 2 * as_double(c.ring.tokens * c.ring.rows * c.ring.depth) / rate;
  const double bytes =
      as_double((c.ring.tokens * (c.ring.warps + 1) + 2 * c.ring.rows) * c.ring.depth) *
      c.s.element;
  return std::max(arithmetic, bytes / gpu.sm.shared_bytes_per_clk.value_or(128));
}

// What the blocks copy, by sectors: the weights once, and the tokens once a row of blocks.
struct Copied {
  double weights, tokens;
};
Copied copied(const Choice& c, const ArrayUse& weights, const ArrayUse& tokens) {
  const auto size = static_cast<std::int64_t>(c.s.element);
  const auto of_pair = [&](const ArrayUse& use, std::int64_t row) {
    return operand(use, row * size).of_pair;
  };
  const bool turned = c.p[kTransposedA] != 0;
  const std::int64_t a_row = turned ? passes::padded_row(c.p[kK], size) : stored_a(c.p).row;
  const std::int64_t b_row = stored_b(c.p).row;
  const bool in_b = weights_in_b(c.p);
  return {c.weights() * of_pair(weights, in_b ? b_row : a_row),
          c.tokens() * as_double(ceil_div(rows_of(c.p), c.ring.rows)) *
              of_pair(tokens, in_b ? a_row : b_row)};
}

// Sectors that threads store in part, one by one: eight tokens' results of a row of weights in A. Results in
// rows of B's order leave by 16 bytes, or in pairs where rows are no multiples of those.
double scattered_sectors(const Choice& c) {
  constexpr double kTogether = 8;
  const double results = c.s.batch * c.s.m * c.s.n;
  if (!weights_in_b(c.p)) return results / kTogether;
  return stored_c(c.p).row * static_cast<std::int64_t>(c.s.result) % kVectorBytes == 0
             ? 0
             : results / 2;
}

Launch launch_of(const Choice& c) {
  Launch launch;
  launch.grid = {ceil_div(rows_of(c.p), c.ring.rows), c.p[kSplitK], c.p[kBatch]};
  launch.block[0] = c.ring.threads();
  launch.registers = c.ring.registers[along_k(c.p) ? 1 : 0];
  launch.shared_bytes = c.ring.shared_bytes();
  return launch;
}

TileLoop loop_of(const Choice& c, const Copied& read, const JoinedParts& parts, const Gpu& gpu) {
  // Of the rate of wgmma, as of the smaller tiles of gemm.mma_sync. A block alone on its SM waits more:
  // by 64x14336x4096 in tiles of 128 rows, 40 to 47 µs on 132 SMs (kernel_bench of 2026-11-23, whose
  // figures are not among the committed runs).
  constexpr double kShare = 0.41, kShareAlone = 0.30;
  TileLoop loop;
  loop.tiles = c.blocks() / c.p[kSplitK];
  loop.splits = c.p[kSplitK];
  loop.blocks_per_sm = resident_blocks(launch_of(c), gpu);
  loop.steps = c.steps();
  loop.math_cycles = math_cycles(c, kShare, gpu);
  loop.alone_cycles = math_cycles(c, kShareAlone, gpu);
  const double blocks = as_double(c.blocks());
  loop.l2_read_bytes =
      (read.weights + read.tokens + c.s.c() + 2 * parts.bytes) / (blocks * loop.steps);
  // Of two bytes, as those that the rate was measured by; sums of parts leave as they are.
  loop.outputs = as_double(c.ring.tokens * c.ring.rows);
  loop.in_flight_bytes =
      as_double((c.ring.stages - 1) * (c.ring.tokens + c.ring.rows) * c.ring.depth) * c.s.element;
  loop.streams = true;
  loop.blocks_in_turn = true;
  loop.split_is_counted = true;
  loop.scattered_sectors = scattered_sectors(c) / blocks;
  loop.end_trips = parts.trips();
  constexpr double kShareOfPower = 0.56;  // as of gemm.mma_sync
  loop.useful_cycles = c.s.flops() / ((gpu.features.has(Instruction::wgmma) ? kShareOfPower : 1) *
                                      gpu.sm.tensor_flop_per_clk[c.p.dtype].value_or(1));
  return loop;
}

}  // namespace

Plan skinny_ring_launch(const Problem& p, const SkinnyRing& ring, const ArrayUse& weights,
                        const ArrayUse& tokens, const Gpu& gpu) {
  const Choice c = {p, Sizes(p), ring};
  Plan plan;
  plan.needs = {Instruction::mma_sync, Instruction::cp_async};
  plan.compute = p.dtype;
  plan.useful.tensor_flops[p.dtype] = c.s.flops();
  plan.launch = launch_of(c);
  const JoinedParts parts(p, ceil_div(rows_of(p), ring.rows), ring.tokens * ring.rows);
  plan.arrays = {weights_in_b(p) ? tokens : weights, weights_in_b(p) ? weights : tokens,
                 writes(kC, c.s.c())};
  parts.add_to(plan.arrays);
  const Copied read = copied(c, weights, tokens);
  const TileLoop loop = loop_of(c, read, parts, gpu);
  plan.tile_loop = loop;
  plan.on_chip_bytes =
      as_double(ring.tokens * ring.rows * kPartBytes) + as_double(ring.shared_bytes());
  const double blocks = as_double(c.blocks()), all_steps = blocks * loop.steps;
  plan.free_read_bytes = read.weights + read.tokens - c.weights() - c.tokens();
  Step step;
  step.issued.tensor_flops[p.dtype] = 2 * as_double(ring.tokens * ring.rows * ring.depth);
  set_traffic(step.issued, {(read.weights + read.tokens) / all_steps, 0});
  step.issued.shared_bytes = as_double((ring.tokens + ring.rows) * ring.depth) * c.s.element;
  step.waits = {.tile_loads = 1, .barriers = 1};
  Step epilogue;
  set_traffic(epilogue.issued, {parts.bytes / blocks, (c.s.c() + parts.bytes) / blocks});
  set_blocks(plan, {{step, loop.steps, as_double(ring.stages)}, {epilogue}});
  return plan;
}

}  // namespace roofcast::gemm::tensor
