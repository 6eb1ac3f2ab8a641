// Backward of attention.flash2 and attention.flash3.
#include "model/kernels/attention/flash_counts.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::attention {
namespace {

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

}  // namespace

Backward flash2_backward(const Shape& shape, DqSum dq, DType type) {
  const Flash2BackwardTile& keys = kFlash2BackwardTiles[head_row(shape.head_dim)];
  const Flash2Tile& queries = kFlash2DqTiles[head_row(shape.head_dim)];
  constexpr std::int64_t kRowLanes = 16;
  constexpr double kDotsInstructions = 40, kRoundInstructions = 16, kAdditionBytes = 32;
  const std::size_t of_head = head_row(shape.head_dim);
  const CountedBackward& counted = kFlash2Backward[of_head];
  const auto row = static_cast<std::int64_t>(shape.row_bytes());
  return {
      .shape = shape,
      .kernel = kMma,
      .keys = {.queries = keys.queries,
               .keys = keys.keys,
               .warps = keys.threads() / 32,
               .warps_across = keys.warps_across,
               .stages = keys.stages,
               .registers = compiled::registers("attention::mma::keys_kernel", type, of_head, dq),
               .shared_bytes = keys.shared_bytes(dq),
               .together = heads_together(shape.batch * shape.kv_heads, 1,
                                          shape.group() * shape.seq_q * row, shape.causal),
               .parts = keys.queries / keys.at_once,
               .dq_rows = 32,
               .counts = {dq == kAtomic ? counted.keys.a_score : counted.without_dq,
                          counted.keys.a_row, kAdditionBytes, waits_of(keys)},
               .chains = kUnrolled},
      .rows = {shape.seq_q, shape.head_dim, kRowLanes, kDotsInstructions, kRoundInstructions,
               compiled::registers("attention::mma::rows_kernel", type),
               compiled::registers("attention::mma::round_kernel", type)},
      .dq = dq,
      .queries = {.queries = queries.queries,
                  .keys = queries.keys,
                  .warps = queries.warps,
                  .warps_across = 1,
                  .stages = queries.stages,
                  .registers = compiled::registers("attention::mma::queries_kernel", type, of_head),
                  .shared_bytes = queries.shared_bytes(),
                  .together = heads_together(shape.batch * shape.heads, shape.group(),
                                             shape.seq_kv * row, shape.causal),
                  .counts = {counted.dq_alone, counted.keys.a_row / 2, kAdditionBytes},
                  .chains = kUnrolled}};
}

Backward flash3_backward(const Shape& shape, DqSum dq, DType type) {
  const Flash3BackwardTile& keys = kFlash3BackwardTiles[head_row(shape.head_dim)];
  const Flash3DqTile& queries = kFlash3DqTiles[head_row(shape.head_dim)];
  // Of an element of the head: Q and dO, and dQ's sums.
  const std::int64_t read_by_keys = shape.group() * shape.seq_q * (dq == kAtomic ? 8 : 4);
  const std::int64_t width = keys.head_dim;
  constexpr double kDotsInstructions = 40, kRoundInstructions = 16, kAdditionBytes = 128;
  const CountedBackward& counted = kFlash3Backward[head_row(shape.head_dim)];
  return {
      .shape = shape,
      .kernel = kWgmma,
      .keys = {.queries = keys.queries,
               .keys = keys.keys,
               .warps = Flash3BackwardTile::threads() / 32,
               .warps_across = 1,
               .stages = keys.stages,
               .registers = compiled::registers("attention::flash3_backward::keys_kernel", type,
                                                keys.head_dim, keys.queries, keys.keys, keys.stages,
                                                dq == kAtomic),
               .shared_bytes = keys.shared_bytes(),
               .together = flash3_heads_together(shape.batch * shape.kv_heads,
                                                 read_by_keys * shape.head_dim),
               .counts = {dq == kAtomic ? counted.keys.a_score : counted.without_dq,
                          counted.keys.a_row, kAdditionBytes},
               .waited_products = keys.splits_head() ? 1.0 : kWaitsForDq},
      .rows = {padded_queries(shape.seq_q), width, width / 8, kDotsInstructions, kRoundInstructions,
               compiled::registers("attention::flash3_backward::prepare_kernel", type),
               compiled::registers("attention::flash3_backward::convert_dq_kernel", type)},
      .dq = dq,
      .queries = {.queries = queries.queries,
                  .keys = queries.keys,
                  .warps = Flash3DqTile::threads() / 32,
                  .warps_across = 1,
                  .stages = queries.stages,
                  .registers = compiled::registers("attention::flash3_backward::queries_kernel",
                                                   type, queries.head_dim, queries.queries,
                                                   queries.keys, queries.stages),
                  .shared_bytes = queries.shared_bytes(),
                  .together = flash3_heads_together(shape.batch * shape.heads,
                                                    shape.seq_kv * 4 * shape.head_dim),
                  .counts = {counted.dq_alone, counted.keys.a_row / 2, kAdditionBytes},
                  .waited_products = kWaitsForTwo}};
}

}  // namespace roofcast::attention
