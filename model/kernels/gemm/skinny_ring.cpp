// gemm.skinny for more than 8 tokens: weights and tokens through a ring of shared memory.
#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/skinny.hpp"

namespace roofcast::gemm::tensor {
namespace {

using skinny::along_k;
using skinny::rows_of;
using skinny::token_pitch;
using skinny::tokens_of;
using skinny::weight_pitch;
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

// Wavefronts of the operands of a step: each warp reads all tokens and its own rows of weights from
// shared memory, into which both were copied.
double operand_wavefronts(const Choice& c) {
  return as_double((c.ring.tokens * (c.ring.warps + 1) + 2 * c.ring.rows) * c.ring.depth) *
         c.s.element / as_double(kTileLineBytes);
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
  return {c.weights() * of_pair(weights, weight_pitch(c.p)),
          c.tokens() * as_double(ceil_div(rows_of(c.p), c.ring.rows)) *
              of_pair(tokens, token_pitch(c.p))};
}

// Sectors that threads store in part, one by one: eight tokens' results of a row of weights in A.
// Results in rows of B's order leave by 16 bytes, or in pairs where rows are no multiples of those.
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
  launch.registers = compiled::registers(
      "gemm::skinny_kernels::ring_kernel", c.p.dtype, c.ring.tokens, c.ring.rows, c.ring.depth, 1,
      c.ring.warps, c.ring.stages, c.ring.blocks, along_k(c.p), skinny::reads_across(c.p));
  launch.shared_bytes = c.ring.shared_bytes();
  return launch;
}

}  // namespace

Plan skinny_ring_launch(const Problem& p, const SkinnyRing& ring, const ArrayUse& weights,
                        const ArrayUse& tokens) {
  const Choice c = {p, Sizes(p), ring};
  Plan plan;
  plan.needs = {Instruction::mma_sync, Instruction::cp_async};
  plan.compute = p.dtype;
  plan.useful.tensor_flops[p.dtype] = c.s.flops();
  plan.launch = launch_of(c);
  const JoinedParts parts(p, ceil_div(rows_of(p), ring.rows), ring.tokens * ring.rows);
  const std::int64_t element = element_bytes(p.dtype);
  const ArrayUse of_rows = in_pieces(weights, (along_k(p) ? ring.depth : ring.rows) * element,
                                     weight_pitch(p) * element);
  plan.arrays = {weights_in_b(p) ? tokens : of_rows, weights_in_b(p) ? of_rows : tokens,
                 writes(kC, c.s.c())};
  parts.add_to(plan.arrays);
  const Copied read = copied(c, weights, tokens);
  plan.on_chip_bytes =
      as_double(ring.tokens * ring.rows * kPartBytes) + as_double(ring.shared_bytes());
  const double blocks = as_double(c.blocks()), all_steps = blocks * c.steps();
  plan.joined.most = read.weights + read.tokens - c.weights() - c.tokens();
  Step step;
  step.issued.tensor_flops[p.dtype] = 2 * as_double(ring.tokens * ring.rows * ring.depth);
  set_traffic(step.issued, {(read.weights + read.tokens) / all_steps, 0});
  step.issued.shared_bytes = as_double((ring.tokens + ring.rows) * ring.depth) * c.s.element;
  step.wavefronts.operands = operand_wavefronts(c);
  step.waits = mma_waits(c.ring.warps);
  Step epilogue;
  set_traffic(epilogue.issued, {parts.bytes / blocks, (c.s.c() + parts.bytes) / blocks});
  epilogue.wavefronts.l1 = scattered_sectors(c) / blocks;
  epilogue.waits.tile_loads = parts.trips();
  set_blocks(plan,
             {{step, c.steps(), copied_ahead(ring.stages), 0, kUnrolledProducts}, {epilogue}});
  return plan;
}

}  // namespace roofcast::gemm::tensor
