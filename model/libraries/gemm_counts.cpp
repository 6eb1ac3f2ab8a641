#include "model/libraries/gemm_catalogue.hpp"

#include <algorithm>

#include "model/constants/libraries.hpp"

namespace roofcast::gemm {
namespace {

// Warp instructions of a block per step on the SIMT pipes: multiply-adds; loads of four operand
// elements, for a square of C per thread; copies of 32 elements with addresses and predicates.
double simt_instructions(const LibraryProduct& c) {
  constexpr double kOfCopy = 12, kElementsOfLoad = 4;
  const double threads = as_double(c.tile.threads);
  const double side = std::sqrt(c.area() / threads);
  const double of_k = c.area() + 2 * side / kElementsOfLoad * threads + c.lines() * kOfCopy;
  return of_k / as_double(kWarpLanes) * c.depth();
}

// On the SIMT pipes or through registers, each thread waits for its own copies. A deeper ring loads
// operands from shared memory one product ahead.
Waits step_waits(const LibraryProduct& c) {
  if (!c.mma || c.through_registers) return {.global = 1, .shared = 1, .barriers = 1};
  return {.tile_loads = 1, .barriers = 1};
}

// Operand wavefronts per step. mma.sync: two by two warps, so each line is read twice, and written
// once. wgmma: 64 rows and all columns; below 64 columns the reads take longer than the product.
// tcgen05: reads are no limit.
double operand_wavefronts(const LibraryProduct& c) {
  constexpr double kWarpsAcross = 2;
  constexpr std::int64_t kRows = 64;
  if (!c.mma || c.mma == Instruction::tcgen05) return 0;
  const double lines_of_row = as_double(c.tile.step_bytes) / as_double(kLineBytes);
  if (!c.is_async()) return (kWarpsAcross + 1) * c.lines() * lines_of_row;
  const auto [columns, rows] = std::minmax(c.tile.m, c.tile.n);
  return as_double(ceil_div(rows, kRows) * (kRows + columns)) * lines_of_row;
}

// Bytes per step that a block looks up in L2. Two blocks of a cluster share one side of their
// tiles; L2 coalesces requests for whole lines from adjacent clusters on the other side.
double step_lookup_bytes(const LibraryProduct& c, const Gpu& gpu) {
  const bool shares = gpu.features.has_clusters() && c.is_async();
  const auto of_side = [shares](const LibraryOperand& side, const LibraryOperand& other) {
    return side.mean_tile() * side.packing.received *
           (shares && other.tiles() > 1 ? 1 - side.coalesced / 2 : 1);
  };
  return (of_side(c.a, c.b) + of_side(c.b, c.a)) * as_double(c.tile.step_bytes);
}

// Copy engine requests per step, or equivalents. Off 16 B, a warp copies 32 pieces of rows at once.
// A piece beyond C's edges costs kLeftOutCopies of one within.
double copy_requests(const LibraryProduct& c) {
  if (library_aligned(c.p)) return 0;
  const double there = c.a.mean_tile() + c.b.mean_tile();
  const double left_out = c.through_registers ? double{library::kLeftOutCopies} : 0;
  const double lines = there + left_out * (c.lines() - there);
  const double step_depth =
      c.k / (as_double(c.p[kSplitK]) * c.steps());  // mean over the steps of k
  return lines * step_depth / c.vector / as_double(kWarpLanes) *
         (c.through_registers ? library::kRegisterCopyRequests : library::kCopyRequests);
}

}  // namespace

tensor::PieceStores stores_of(const LibraryProduct& c) {
  const std::int64_t size = element_bytes(tensor::result_type(c.p.dtype)), pitch = c.p[kN] * size;
  const auto vector = static_cast<std::int64_t>(c.vector);
  const std::int64_t piece =
      library_aligned(c.p) ? kLineBytes : size * std::min(kWarpLanes * vector, c.tile.n);
  return {c.sizes.c, std::min(piece, pitch), pitch};
}

Outline outline_of(const LibraryProduct& c, const Gpu& gpu) {
  const double blocks = as_double(c.blocks()), steps = c.steps();
  const bool of_tcgen05 = c.mma == Instruction::tcgen05;
  // A warpgroup issues a product before the previous one ends.
  const double chains = c.is_async() ? 2 : 1;
  const double groups = of_tcgen05 ? 1 : c.is_async() ? 2 : 0;
  const std::int64_t splits = c.p[kSplitK];
  const double stored = splits > 1 ? as_double(splits * kPartBytes) * c.sizes.outputs : c.sizes.c;
  // A transposed line is read bank by bank and written two words at a time.
  constexpr double kTransposedLine = 4;
  Step step;
  product_flops(step.issued, c.p.dtype) = 2 * c.area() * c.depth() / c.tile.rate;
  set_traffic(step.issued, {(c.received(c.a, c.b) + c.received(c.b, c.a)) / (blocks * steps), 0});
  step.issued.shared_bytes = as_double(stage_bytes(c.tile));
  step.warp_instructions =
      c.mma ? c.widening * as_double(c.tile.n) * c.depth() / as_double(kWarpLanes)
            : simt_instructions(c);
  step.wavefronts = {.shared = kTransposedLine * as_double((c.a.transposed ? c.tile.m : 0) +
                                                           (c.b.transposed ? c.tile.n : 0)),
                     .operands = operand_wavefronts(c),
                     .copies = copy_requests(c)};
  step.waits = step_waits(c);
  Step end{.warp_instructions = c.mma ? tensor::end_instructions(c.area()) : 0};
  set_traffic(end.issued, {0, stored / blocks});
  if (splits == 1) {
    const double sectors = stores_of(c).sectors / blocks;
    end.issued.l1 = end.issued.l2 = {0, sectors * kSectorBytes};
    if (!library_aligned(c.p)) end.wavefronts.l1 = sectors;
  }
  return {.blocks = c.blocks(),
          .blocks_per_sm = c.tile.blocks_per_sm,
          .scheduler = of_tcgen05     ? TileScheduler::ping_pong
                       : c.is_async() ? TileScheduler::persistent
                                      : TileScheduler::hardware,
          .type = c.p.dtype,
          .of_tcgen05 = of_tcgen05,
          .warps = as_double(c.tile.threads / kWarpLanes),
          // Threads that copy their own tiles first load parameters and compute addresses.
          .first = step.waits.tile_loads > 0 ? Waits{} : Waits{.global = 2, .tile_loads = 1},
          .loop = {step, steps, std::max(0.0, as_double(c.tile.stages - 1)), groups, chains},
          .end = end,
          .l2_read_bytes = step_lookup_bytes(c, gpu) * blocks * steps / c.k_slabs,
          .operands = {OperandRead{quantizes(c.p) ? 0 : c.sizes.a, {.out_of_step = true}},
                       OperandRead{c.sizes.b, {.out_of_step = true}}},
          .result_bytes = c.sizes.c,
          .launches = splits > 1 ? 2.0 : 1.0,
          .useful_flops = c.mma ? c.flops() : 0};
}

}  // namespace roofcast::gemm
