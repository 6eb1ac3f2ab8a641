// attention.flash2 and attention.flash3, with what the counters say of them.
#include <algorithm>
#include <array>
#include <string>

#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::attention {
namespace {

// Forward of flash2 multiplies the sums in every step.
constexpr Kernel kMmaForward{.product = Instruction::mma_sync, .instructions_a_sum = 1};
constexpr Kernel kMma{.product = Instruction::mma_sync}, kWgmma{.product = Instruction::wgmma};

// By head dim: instructions of a thread for a score of a step, and for a row of the block before
// and after its steps. By the counters of 1024 to 16384 keys, which tell one from the other; passes
// beside the blocks are counted apart.
// Forward, without the multiplications of O.
constexpr std::array<StepCounts, 3> kFlash2Forward = {{{8.3, 950}, {12.2, 1540}, {21.4, 2730}}};
constexpr std::array<StepCounts, 3> kFlash3Forward = {{{6.5, 760}, {6.3, 1480}, {9.2, 1800}}};

// Blocks of keys, which add up dQ, with the bytes that a wavefront adds; and in two passes, of a
// score, blocks of keys without dQ, and blocks of queries for dQ alone.
struct BackwardCounts {
  StepCounts keys;
  double without_dq, dq_alone;

  StepCounts of_keys(DqSum dq) const {
    StepCounts counts = keys;
    if (dq == kTwoPass) counts.instructions_a_score = without_dq;
    return counts;
  }
  StepCounts of_queries() const { return {dq_alone, keys.instructions_a_row / 2}; }
};
constexpr std::array<BackwardCounts, 3> kFlash2Backward = {
    {{{23.4, 2670, 32}, 14.4, 9.8}, {{34.5, 3440, 32}, 21.7, 15.9}, {{93.9, 4970, 32}, 63, 34}}};
constexpr std::array<BackwardCounts, 3> kFlash3Backward = {
    {{{9.4, 320, 128}, 8.3, 6.1}, {{13.0, 640, 128}, 10.7, 6.8}, {{26.7, 1280, 128}, 24.3, 20}}};

/// A tile as the CUDA kernels are compiled for it.
template <class Compiled>
Tile tile_of(const Compiled& tile, std::int64_t registers, std::int64_t shared_bytes,
             std::int64_t together, const StepCounts& counts) {
  return {.queries = tile.queries,
          .keys = tile.keys,
          .warps = tile.threads() / 32,
          .stages = tile.stages,
          .blocks_per_sm = 1,
          .registers = registers,
          .shared_bytes = shared_bytes,
          .together = together,
          .counts = counts};
}

std::int64_t forward_together(const Shape& s) {
  return heads_together(s.batch * s.heads, s.group(),
                        static_cast<std::int64_t>(as_double(s.seq_kv) * s.row_bytes()), s.causal);
}

Tile flash2_forward(const Shape& s, DType type) {
  const std::size_t head = head_row(s.head_dim);
  const Flash2Tile& t = kFlash2Tiles[head];
  Tile tile = tile_of(t, compiled::registers("attention::mma::forward_kernel", type, head),
                      t.shared_bytes(), forward_together(s), kFlash2Forward[head]);
  tile.chains = gemm::tensor::kUnrolledProducts;
  return tile;
}

// A block stays on its SM. Where a mask makes tiles unequal, blocks take the next one from a
// counter.
Tile flash3_forward(const Shape& s, DType type) {
  const Flash3Tile& t = kFlash3Tiles[s.causal ? 1 : 0][head_row(s.head_dim)];
  Tile tile = tile_of(t,
                      compiled::registers("attention::forward_kernel", type, t.head_dim, t.queries,
                                          t.keys, t.stages, t.stages_q),
                      t.shared_bytes(), forward_together(s), kFlash3Forward[head_row(s.head_dim)]);
  tile.scheduler = s.causal ? TileScheduler::queue : TileScheduler::persistent;
  tile.waited_products = kWaitsForScores;
  return tile;
}

// Of a step, for each part whose scores are held at a time: two chains of products along d, the
// exponentials, dS, and the first products of dV and dK; then operands from shared memory.
Waits waits_of(const Flash2BackwardTile& tile) {
  constexpr double kExponentialWaits = 15;
  const double parts = as_double(tile.queries / tile.at_once);
  const double products = 2 * as_double(tile.head_dim) / 16 + 2;
  return {.tile_loads = 1,
          .shared = 2 * parts,
          .arithmetic = parts * (products * gemm::tensor::kProductWaits + kExponentialWaits),
          .barriers = 2};
}

Backward flash2_backward(const Shape& s, DqSum dq, DType type) {
  const std::size_t head = head_row(s.head_dim);
  const Flash2BackwardTile& of_keys = kFlash2BackwardTiles[head];
  const Flash2Tile& of_queries = kFlash2DqTiles[head];
  const BackwardCounts& counted = kFlash2Backward[head];
  const auto row = static_cast<std::int64_t>(s.row_bytes());
  Tile keys = tile_of(of_keys, compiled::registers("attention::mma::keys_kernel", type, head, dq),
                      of_keys.shared_bytes(dq),
                      heads_together(s.batch * s.kv_heads, 1, s.group() * s.seq_q * row, s.causal),
                      counted.of_keys(dq));
  keys.counts.waits = waits_of(of_keys);
  keys.warps_across = of_keys.warps_across;
  keys.parts = of_keys.queries / of_keys.at_once;
  keys.dq_rows = 32;
  Tile queries =
      tile_of(of_queries, compiled::registers("attention::mma::queries_kernel", type, head),
              of_queries.shared_bytes(), forward_together(s), counted.of_queries());
  keys.chains = queries.chains = gemm::tensor::kUnrolledProducts;
  return {s, kMma, keys, {s.seq_q, s.head_dim, 16}, padded_head(s.head_dim), dq, queries};
}

Backward flash3_backward(const Shape& s, DqSum dq, DType type) {
  const Flash3BackwardTile& k = kFlash3BackwardTiles[head_row(s.head_dim)];
  const Flash3DqTile& q = kFlash3DqTiles[head_row(s.head_dim)];
  const BackwardCounts& counted = kFlash3Backward[head_row(s.head_dim)];
  // Of an element of the head: Q and dO, and dQ's sums; K and V.
  const std::int64_t read_by_keys = s.group() * s.seq_q * (dq == kAtomic ? 8 : 4);
  const std::int64_t read_by_queries = s.seq_kv * 4;
  Tile keys = tile_of(k,
                      compiled::registers("attention::flash3_backward::keys_kernel", type,
                                          k.head_dim, k.queries, k.keys, k.stages, dq == kAtomic),
                      k.shared_bytes(),
                      flash3_heads_together(s.batch * s.kv_heads, read_by_keys * s.head_dim),
                      counted.of_keys(dq));
  keys.waited_products = k.splits_head() ? 1.0 : kWaitsForDq;
  Tile queries = tile_of(q,
                         compiled::registers("attention::flash3_backward::queries_kernel", type,
                                             q.head_dim, q.queries, q.keys, q.stages),
                         q.shared_bytes(),
                         flash3_heads_together(s.batch * s.heads, read_by_queries * s.head_dim),
                         counted.of_queries());
  queries.waited_products = kWaitsForTwo;
  return {s,
          kWgmma,
          keys,
          {padded_queries(s.seq_q), k.head_dim, k.head_dim / 8},
          padded_head(s.head_dim),
          dq,
          queries};
}

LaunchSequence forward_program(const Shape& shape, const Kernel& kernel, const Tile& tile,
                               DType type, const Gpu& gpu) {
  const Forward c{.shape = shape,
                  .kernel = kernel,
                  .tile = tile,
                  .width = padded_head(shape.head_dim),
                  .writes_lse = true};
  Plan plan = forward_plan(c, type);
  if (stays(plan.scheduler)) plan.launch.grid[0] = std::min(plan.launch.grid[0], gpu.slots(1));
  add_tiles(plan, c.blocks(), forward_steps(c, type));
  LaunchSequence program = launch_of(std::move(plan));
  // The counter is set to zero before; the program begins with the kernel that it is about.
  if (tile.scheduler == TileScheduler::queue) program.push_back({cleared_counter()});
  return program;
}

LaunchSequence plan_flash(const Problem& p, const Gpu& gpu, const Kernel& kernel,
                          Tile (*forward)(const Shape&, DType),
                          Backward (*backward)(const Shape&, DqSum, DType)) {
  const Shape s(p);
  check_computable(p, s, gpu);
  if (!s.backward) return forward_program(s, kernel, forward(s, p.dtype), p.dtype, gpu);
  return backward_program(backward(s, static_cast<DqSum>(p[kDq]), p.dtype), p.dtype);
}

}  // namespace

LaunchSequence plan_flash2(const Problem& p, const Gpu& gpu) {
  return plan_flash(p, gpu, kMmaForward, flash2_forward, flash2_backward);
}

LaunchSequence plan_flash3(const Problem& p, const Gpu& gpu) {
  return plan_flash(p, gpu, kWgmma, flash3_forward, flash3_backward);
}

}  // namespace roofcast::attention
