#include "model/libraries/gemm_counts.hpp"

#include <algorithm>
#include <cmath>

#include "model/constants/libraries.hpp"
#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm_rows.hpp"

namespace roofcast::gemm {
namespace {

// Of rows so many elements apart.
double sectors_of_line(std::int64_t row, std::int64_t rows, DType type) {
  if (rows == 1) return 1;
  return tensor::sectors_share(kLineBytes, row * element_bytes(type));
}

}  // namespace

LibraryProduct library_product(const Problem& p, const Gpu& gpu) {
  const RowLengths rows = library_rows(p);
  const bool wide = takes_wide(p, gpu), along_k = wide && p.dtype == DType::tf32;
  return {
      .m = as_double(p[kM]),
      .n = as_double(p[kN]),
      .k = as_double(p[kK]),
      .tile = library_tile(p, gpu),
      .splits = p[kSplitK],
      .element = size_bytes(p.dtype),
      .result = size_bytes(tensor::result_type(p.dtype)),
      .vector = p.dtype == DType::fp32 && has_wide_products(gpu) ? 1 : as_double(copied_vector(p)),
      .aligned = library_aligned(p),
      .takes_wide = wide,
      .tensor = p.dtype != DType::fp32,
      .batch = as_double(p[kBatch]),
      .instruction_rows = gpu.features.has(Instruction::tcgen05) ? 128.0 : 64.0,
      .sectors_a = sectors_of_line(rows.a, p[kM], p.dtype),
      .sectors_b = sectors_of_line(rows.b, p[kN], p.dtype),
      .sectors_c = sectors_of_line(rows.c, p[kM], tensor::result_type(p.dtype)),
      .turned_a = along_k && transposes_a(p[kLayout]),
      .turned_b = along_k && !transposes_b(p[kLayout]),
      .joined_a = tensor::joined_share(rows.a * element_bytes(p.dtype)),
      .joined_b = tensor::joined_share(rows.b * element_bytes(p.dtype))};
}

// Wavefronts of the operands of a step. wgmma and tcgen05 read 64 or 128 rows of one side and all
// of the other for every 32 B of k; four warps of mma.sync, two by two, those of their own sums.
double LibraryProduct::operand_wavefronts() const {
  if (!tensor) return 0;
  if (!takes_wide) {
    constexpr double kWarpsAcross = 2;
    return (kWarpsAcross + 1) * stage_bytes() / as_double(kLineBytes);
  }
  const double side = as_double(along_m() ? tile.m : tile.n);
  const double at_once = std::min(side, instruction_rows);
  return side / at_once * (at_once + copied_lines() - side);
}

// Words of a line are read from one bank after another and written to others, two at a time.
double LibraryProduct::turned_wavefronts() const {
  constexpr double kOfLine = 4;
  return kOfLine * as_double((turned_a ? tile.m : 0) + (turned_b ? tile.n : 0));
}

LibraryProduct::CopiedLines LibraryProduct::lines() const {
  const auto whole_rows = static_cast<std::int64_t>(m) / tile.m;
  const auto whole_columns = static_cast<std::int64_t>(n) / tile.n;
  const std::int64_t copies = static_cast<std::int64_t>(batch) * splits;
  const double all = as_double(copies) * (m * as_double(columns()) + n * as_double(rows()));
  const std::int64_t inside = whole_rows * whole_columns * copies, cut = blocks() - inside;
  const double of_inside = as_double(tile.m + tile.n);
  const double there = cut > 0 ? (all - as_double(inside) * of_inside) / as_double(cut) : of_inside;
  const double left_out = through_registers() ? double{library::kLeftOutCopies} : 0;
  const double of_cut = there + left_out * (of_inside - there);
  return {inside, of_inside, of_cut};
}

// Where rows break the alignment to 16 B, threads copy the operands in pieces, a warp 32 at once.
double LibraryProduct::copy_requests(double lines) const {
  if (vector * element >= as_double(kVectorBytes)) return 0;
  const double of_step = k / (as_double(splits) * steps());  // as far as k goes
  return lines * of_step / vector / as_double(kWarpLanes) *
         (through_registers() ? library::kRegisterCopyRequests : library::kCopyRequests);
}

// What of a step's operands each block looks up in L2: two neighbours in a cluster share one side
// of their tiles, and what two neighbours of those ask for at about the same time L2 looks up once:
// half of whole lines, where there are neighbours.
double LibraryProduct::step_lookup_bytes(const Gpu& gpu) const {
  const bool shares = gpu.features.has_clusters() && takes_wide;
  const auto of_side = [&](std::int64_t neighbours, double sectors, double joined) {
    return shares && neighbours > 1 ? sectors * (1 - joined / 2) : sectors;
  };
  return (of_side(columns(), sectors_a, joined_a) * as_double(tile.m) +
          of_side(rows(), sectors_b, joined_b) * as_double(tile.n)) *
         as_double(tile.step_bytes);
}

// Blocks that run at once cover a patch of C that is about as high as it is wide.
TileRaster LibraryProduct::raster(const Gpu& gpu) const {
  const double slots = as_double(gpu.slots(tile.blocks_per_sm));
  const double tiles = std::min(slots, as_double(rows() * columns() * splits)) / as_double(splits);
  const double high = std::sqrt(tiles * as_double(tile.n) / as_double(tile.m));
  return {.tile_rows = rows(),
          .tile_columns = columns(),
          .group_rows =
              std::clamp(static_cast<std::int64_t>(std::llround(high)), std::int64_t{1}, rows()),
          .row_panel_bytes = m / as_double(rows()) * k * element,
          .column_panel_bytes = n / as_double(columns()) * k * element};
}

double LibraryProduct::partial_bytes() const {
  return splits > 1 ? as_double(splits) * batch * m * n * as_double(kPartBytes) : 0;
}

double LibraryProduct::stored_bytes() const {
  return splits > 1 ? partial_bytes() : batch * m * n * result * sectors_c;
}

double LibraryProduct::merged_sectors() const {
  if (splits > 1 || sectors_c <= 1) return 0;
  const double lines = batch * m * n * result / as_double(kLineBytes);
  // One that begins within a sector touches a sector more, and two in part.
  const double within = (sectors_c - 1) * as_double(kLineBytes / kSectorBytes);
  return 2 * lines * within;
}

}  // namespace roofcast::gemm
