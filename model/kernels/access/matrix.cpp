#include "model/counting/row_segments.hpp"
#include "model/kernels/access/counts.hpp"

namespace roofcast::access {
namespace {

constexpr double kInstructionsPerWarp = 32;

// A block covers `width` columns of `height` rows.
Plan matrix_plan(const Problem& p, std::string_view kernel, std::int64_t width, std::int64_t height,
                 const Counts& counts) {
  const double bytes = as_double(p[matrix::kRows] * p[matrix::kColumns] * element_bytes(p.dtype));
  const auto share = [](std::int64_t part, std::int64_t extent) {
    return std::min(1.0, as_double(part) / as_double(extent));
  };
  Plan plan = one_access_a_thread(
      {.blocks = {ceil_div(p[matrix::kColumns], width), ceil_div(p[matrix::kRows], height), 1},
       .threads = {matrix::kLanes, matrix::kDepth, 1},
       .share_of_full_block = share(width, p[matrix::kColumns]) * share(height, p[matrix::kRows])},
      {bytes, bytes}, counts);
  plan.arrays = {reads(0, bytes), writes(1, bytes)};
  plan.launch.registers = compiled::registers(kernel, element_bytes(p.dtype));
  return plan;
}

DenseMatrix matrix_of(const Problem& p) {
  return {p[matrix::kRows], p[matrix::kColumns], element_bytes(p.dtype)};
}

}  // namespace

LaunchSequence plan_row_wise(const Problem& p, const Gpu& /*gpu*/) {
  Counts counts{.warp_instructions = kInstructionsPerWarp};
  counts.l1_load_sectors = counts.l2_load_sectors = counts.store_sectors =
      sectors_along_rows(matrix_of(p));
  const double warps = as_double(p[matrix::kRows] * ceil_div(p[matrix::kColumns], kWarpLanes));
  counts.lookups = counts.wavefronts =
      2 * warps * std::max(1.0, as_double(kWarpLanes * element_bytes(p.dtype)) / kLineBytes);
  Plan plan = matrix_plan(p, "access::row_wise_kernel", matrix::kLanes, matrix::kDepth, counts);
  plan.arrays.back().pattern.partial_writes = partial_sectors_along_rows(matrix_of(p));
  return launch_of(std::move(plan));
}

LaunchSequence plan_column_wise(const Problem& p, const Gpu& /*gpu*/) {
  const DenseMatrix matrix = matrix_of(p);
  Counts counts{.warp_instructions = kInstructionsPerWarp};
  counts.l1_load_sectors = counts.store_sectors = sectors_down_columns(matrix);
  // Once a block, for a run along each row: the block's other columns find them in L1.
  counts.l2_load_sectors = sectors_along_rows(matrix, matrix::kDepth);
  WarpAccess access{.stride_bytes = matrix.pitch_bytes(), .access_bytes = matrix.element_bytes};
  counts.lookups = 2 * as_double(matrix.columns) * units_of_warps(access, matrix.rows, kLineBytes);
  access.lanes = std::min(kWarpLanes, matrix.rows);
  counts.wavefronts =
      2 * as_double(matrix.columns) * warps_of(matrix.rows) * as_double(bank_wavefronts(access));
  Plan plan = matrix_plan(p, "access::column_wise_kernel", matrix::kDepth, matrix::kLanes, counts);
  plan.arrays.back().pattern.partial_writes = counts.store_sectors;
  const double n = as_double(matrix.rows * matrix.columns);
  const auto used = as_double(matrix.element_bytes);
  plan.notes.traffic_reasons = {
      {Level::l1, waste_text("lanes a row apart", counts.l1_load_sectors * kSectorBytes / n, used)},
      {Level::l2,
       "L1 keeps a sector for the block's neighbouring columns; stores go on as they are"},
      {Level::dram, "L2 puts the pieces of a written sector together"}};
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
