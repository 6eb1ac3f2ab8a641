#include "model/libraries/gemm_counts.hpp"

#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::library_counts {

Choice choice_of(const Problem& p, const Gpu& gpu) {
  return {.m = as_double(p[kM]),
          .n = as_double(p[kN]),
          .k = as_double(p[kK]),
          .tile = library_tile(p, gpu),
          .splits = p[kSplitK],
          .element = size_bytes(p.dtype),
          .result = size_bytes(tensor::result_type(p.dtype)),
          .vector = as_double(copied_vector(p)),
          .aligned = library_aligned(p),
          .wide = has_wide_products(gpu) && p.dtype != DType::fp32,
          .takes_wide = takes_wide(p, gpu),
          .tensor = p.dtype != DType::fp32,
          .batch = as_double(p[kBatch]),
          .instruction_rows = gpu.features.has(Instruction::tcgen05) ? 128.0 : 64.0};
}

// Wavefronts of the operands of a step. wgmma and tcgen05 read 64 or 128 rows of one side and all
// of the other for every 32 B of k; four warps of mma.sync, two by two, those of their own sums.
double operand_wavefronts(const Choice& c) {
  if (!c.tensor) return 0;
  if (!c.takes_wide) {
    constexpr double kWarpsAcross = 2;
    return (kWarpsAcross + 1) * c.copied_lines();
  }
  const double rows = as_double(c.along_m() ? c.tile.m : c.tile.n);
  const double at_once = std::min(rows, c.instruction_rows);
  return rows / at_once * (at_once + c.copied_lines() - rows);
}

// Where rows break the alignment to 16 B, threads copy the operands in pieces, a warp 32 at once.
// Of each such copy, as multiples of a piece of the copy engine.
constexpr double kPiecesOfWarp = 6;

double copied_pieces(const Choice& c) {
  if (c.vector * c.element >= as_double(kVectorBytes)) return 0;
  const double rows = std::min(c.m, as_double(c.tile.m)) + std::min(c.n, as_double(c.tile.n));
  const double depth = c.k / (as_double(c.splits) * c.steps());  // of the step, as far as k goes
  return rows * depth / c.vector / as_double(kWarpLanes) * kPiecesOfWarp;
}

// What of a step's operands each block looks up in L2: two neighbours in a cluster share one side
// of their tiles, and what two neighbours of those ask for at about the same time L2 looks up once:
// half of what the SMs receive, where there are neighbours (tensor: 0.51 to 0.57 from
// 2048x6144x4096 to 8192x8192x8192).
double step_lookup_bytes(const Choice& c, const Gpu& gpu) {
  const bool shares = gpu.features.has_clusters() && c.takes_wide;
  const double of_m = shares && c.columns() > 1 ? 0.5 : 1;
  const double of_n = shares && c.rows() > 1 ? 0.5 : 1;
  return (of_m * as_double(c.tile.m) + of_n * as_double(c.tile.n)) * kStepBytes;
}

std::int64_t blocks_of(const Choice& c) {
  return c.rows() * c.columns() * static_cast<std::int64_t>(c.batch) * c.splits;
}

// Blocks that run at once cover a patch of C that is about as high as it is wide.
TileRaster raster(const Choice& c, const Gpu& gpu) {
  const double slots = as_double(gpu.slots(c.tile.blocks_per_sm));
  const double tiles =
      std::min(slots, as_double(c.rows() * c.columns() * c.splits)) / as_double(c.splits);
  const double high = std::sqrt(tiles * as_double(c.tile.n) / as_double(c.tile.m));
  return {.tile_rows = c.rows(),
          .tile_columns = c.columns(),
          .group_rows =
              std::clamp(static_cast<std::int64_t>(std::llround(high)), std::int64_t{1}, c.rows()),
          .row_panel_bytes = c.m / as_double(c.rows()) * c.k * c.element,
          .column_panel_bytes = c.n / as_double(c.columns()) * c.k * c.element};
}

double partial_bytes(const Choice& c) {
  return c.splits > 1 ? as_double(c.splits) * c.batch * c.m * c.n * as_double(kPartBytes) : 0;
}

double stored_bytes(const Choice& c) {
  return c.splits > 1 ? partial_bytes(c) : c.batch * c.m * c.n * c.result;
}

}  // namespace roofcast::gemm::library_counts
