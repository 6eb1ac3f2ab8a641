#include "model/libraries/gemm_counts.hpp"

#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm_rows.hpp"

namespace roofcast::gemm::library_counts {

namespace {

// Of rows so many elements apart.
double sectors_of_line(std::int64_t row, std::int64_t rows, DType type) {
  if (rows == 1) return 1;
  return tensor::sectors_share(kLineBytes, row * element_bytes(type));
}

}  // namespace

Choice choice_of(const Problem& p, const Gpu& gpu) {
  const RowLengths rows = library_rows(p);
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
          .instruction_rows = gpu.features.has(Instruction::tcgen05) ? 128.0 : 64.0,
          .sectors_a = sectors_of_line(rows.a, p[kM], p.dtype),
          .sectors_b = sectors_of_line(rows.b, p[kN], p.dtype),
          .sectors_c = sectors_of_line(rows.c, p[kM], tensor::result_type(p.dtype))};
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
// Of each such copy, as multiples of a request of the copy engine.
constexpr double kRequestsOfWarp = 13;

double copied_pieces(const Choice& c) {
  if (c.vector * c.element >= as_double(kVectorBytes)) return 0;
  const double rows = std::min(c.m, as_double(c.tile.m)) + std::min(c.n, as_double(c.tile.n));
  const double depth = c.k / (as_double(c.splits) * c.steps());  // of the step, as far as k goes
  return rows * depth / c.vector / as_double(kWarpLanes) * kRequestsOfWarp;
}

// What of a step's operands each block looks up in L2: two neighbours in a cluster share one side
// of their tiles, and what two neighbours of those ask for at about the same time L2 looks up once:
// half of what the SMs receive, where there are neighbours (tensor: 0.51 to 0.57 from
// 2048x6144x4096 to 8192x8192x8192). Lines that begin within a sector are looked up for each.
double step_lookup_bytes(const Choice& c, const Gpu& gpu) {
  const bool shares = gpu.features.has_clusters() && c.takes_wide;
  const auto of_side = [&](std::int64_t neighbours, double sectors) {
    constexpr double kJoined = 0.5, kOfClusters = 0.75;
    if (!shares || neighbours <= 1) return sectors;
    return sectors > 1 ? kOfClusters * sectors : kJoined;
  };
  return (of_side(c.columns(), c.sectors_a) * as_double(c.tile.m) +
          of_side(c.rows(), c.sectors_b) * as_double(c.tile.n)) *
         kStepBytes;
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
  return c.splits > 1 ? partial_bytes(c) : c.batch * c.m * c.n * c.result * c.sectors_c;
}

double merged_sectors(const Choice& c) {
  if (c.splits > 1 || c.sectors_c <= 1) return 0;
  const double lines = c.batch * c.m * c.n * c.result / as_double(kLineBytes);
  // One that begins within a sector touches a sector more, and two in part.
  const double within = (c.sectors_c - 1) * as_double(kLineBytes / kSectorBytes);
  return 2 * lines * within;
}

}  // namespace roofcast::gemm::library_counts
