// The plans of attention.flash2 and attention.flash3.
#include <utility>

#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::attention {
namespace {

constexpr Kernel kMma{.product = Instruction::mma_sync}, kWgmma{.product = Instruction::wgmma};

/// The tile of a kernel as compiled. One of wgmma's warpgroups only copies.
template <class Compiled>
Tile tile_of(const Kernel& how, const Compiled& tile, const compiled::Kernel& kernel,
             std::int64_t shared_bytes, std::int64_t together) {
  const std::int64_t all = tile.threads() / 32;
  const double warps = as_double(how.async_mma() ? 4 * multiplying_groups(all) : all);
  return {.queries = tile.queries,
          .keys = tile.keys,
          .warps = all,
          .stages = tile.stages,
          .registers = kernel.registers,
          .shared_bytes = shared_bytes,
          .together = together,
          .step_instructions = warps * kernel.loops[0],
          .block_instructions = warps * kernel.straight,
          .chains = how.async_mma() ? 1 : gemm::tensor::kUnrolledProducts};
}

std::int64_t forward_together(const Shape& s) {
  return heads_together(s.batch * s.heads, s.group(),
                        static_cast<std::int64_t>(as_double(s.seq_kv) * s.row_bytes()), s.causal);
}

Tile flash2_forward(const Shape& s) {
  const std::size_t head = head_row(s.head_dim);
  const Flash2Tile& t = kFlash2Tiles[head];
  return tile_of(kMma, t, compiled::kernel("attention::mma::forward_kernel", s.type, head),
                 t.shared_bytes(), forward_together(s));
}

// Persistent blocks. A causal mask makes tiles unequal: blocks take the next one from a counter.
Tile flash3_forward(const Shape& s) {
  const Flash3Tile& t = kFlash3Tiles[s.causal ? 1 : 0][head_row(s.head_dim)];
  compiled::Kernel kernel = compiled::kernel("attention::forward_kernel", s.type, t.head_dim,
                                             t.queries, t.keys, t.stages, t.stages_q);
  // loops[0], over tiles, contains the first step; loops[1] is the loop of masked steps.
  kernel.straight = kernel.loops[0] - kernel.loops[1];
  kernel.loops[0] = kernel.loops[1];
  Tile tile = tile_of(kWgmma, t, kernel, t.shared_bytes(), forward_together(s));
  tile.scheduler = s.causal ? TileScheduler::queue : TileScheduler::persistent;
  tile.waited_products = kWaitedShare;
  return tile;
}

// Waits of a step. Each part, whose scores are held at a time, has a chain of two products along d
// and the first products of dV and dK. Operands come from shared memory.
Waits waits_of(const Flash2BackwardTile& tile) {
  const double parts = as_double(tile.queries / tile.at_once);
  const double products = 2 * as_double(tile.head_dim) / 16 + 2;
  return {.tile_loads = 1,
          .shared = 2 * parts,
          .arithmetic = parts * products * gemm::tensor::kProductWaits,
          .barriers = 2};
}

Backward flash2_backward(const Shape& s, DqSum dq) {
  const std::size_t head = head_row(s.head_dim);
  const Flash2BackwardTile& of_keys = kFlash2BackwardTiles[head];
  const Flash2Tile& of_queries = kFlash2DqTiles[head];
  const auto row = static_cast<std::int64_t>(s.row_bytes());
  const compiled::Kernel kernel = compiled::kernel("attention::mma::keys_kernel", s.type, head, dq);
  Tile keys = tile_of(kMma, of_keys, kernel, of_keys.shared_bytes(dq),
                      heads_together(s.batch * s.kv_heads, 1, s.group() * s.seq_q * row, s.causal));
  keys.waits = waits_of(of_keys);
  keys.warps_across = of_keys.warps_across;
  keys.parts = of_keys.queries / of_keys.at_once;
  keys.step_instructions += as_double(keys.warps * keys.parts) * kernel.loops[1];
  keys.addition_bytes = 32;
  keys.dq_rows = 32;
  const Tile queries =
      tile_of(kMma, of_queries, compiled::kernel("attention::mma::queries_kernel", s.type, head),
              of_queries.shared_bytes(), forward_together(s));
  return {s, kMma, keys, {s.seq_q, s.head_dim, 16}, padded_head(s.head_dim), dq, queries};
}

Backward flash3_backward(const Shape& s, DqSum dq) {
  const Flash3BackwardTile& k = kFlash3BackwardTiles[head_row(s.head_dim)];
  const Flash3DqTile& q = kFlash3DqTiles[head_row(s.head_dim)];
  // Bytes re-read per element of the head dim: Q, dO and the sums of dQ (kAtomic); K and V.
  const std::int64_t read_by_keys = s.group() * s.seq_q * (dq == kAtomic ? 8 : 4);
  const std::int64_t read_by_queries = s.seq_kv * 4;
  Tile keys = tile_of(kWgmma, k,
                      compiled::kernel("attention::flash3_backward::keys_kernel", s.type,
                                       k.head_dim, k.queries, k.keys, k.stages, dq == kAtomic),
                      k.shared_bytes(),
                      flash3_heads_together(s.batch * s.kv_heads, read_by_keys * s.head_dim));
  keys.addition_bytes = 128;
  keys.waited_products = k.splits_head() ? 1.0 : kWaitedShare;
  Tile queries = tile_of(kWgmma, q,
                         compiled::kernel("attention::flash3_backward::queries_kernel", s.type,
                                          q.head_dim, q.queries, q.keys, q.stages),
                         q.shared_bytes(),
                         flash3_heads_together(s.batch * s.heads, read_by_queries * s.head_dim));
  queries.waited_products = 2.0 / 3;  // exponentials overlap dP alone
  return {s,
          kWgmma,
          keys,
          {padded_queries(s.seq_q), k.head_dim, k.head_dim / 8},
          padded_head(s.head_dim),
          dq,
          queries};
}

LaunchSequence plan_flash(const Problem& p, const Gpu& gpu, const Kernel& kernel,
                          Tile (*forward)(const Shape&),
                          Backward (*backward)(const Shape&, DqSum)) {
  const Shape s = computable_shape(p, gpu);
  if (s.backward) return backward_launches(backward(s, static_cast<DqSum>(p[kDq])));
  const Blocks c{s, kernel, forward(s), padded_head(s.head_dim), 1, true};
  Plan plan = forward_plan(c, gpu);
  add_tiles(plan, c, forward_steps(c));
  LaunchSequence sequence = launch_of(std::move(plan));
  if (c.tile.scheduler == TileScheduler::queue) {
    sequence.insert(sequence.begin(), {cleared_counter()});
  }
  return sequence;
}

}  // namespace

LaunchSequence plan_flash2(const Problem& p, const Gpu& gpu) {
  return plan_flash(p, gpu, kMma, flash2_forward, flash2_backward);
}

LaunchSequence plan_flash3(const Problem& p, const Gpu& gpu) {
  return plan_flash(p, gpu, kWgmma, flash3_forward, flash3_backward);
}

}  // namespace roofcast::attention
