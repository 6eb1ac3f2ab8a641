#include "model/kernels/transpose/transpose.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::transpose {
namespace {

DenseMatrix x_of(const Problem& p) {
  return {p[kRows], p[kColumns], element_bytes(p.dtype)};
}
DenseMatrix y_of(const Problem& p) {
  return {p[kColumns], p[kRows], element_bytes(p.dtype)};
}

// Fills in what all ways have in common. `step`: of a block but for traffic; `written`: in whole
// sectors; `shared_wavefronts`: both of the launch, whose reads are runs of `side` elements.
void finish(Plan& plan, Step& step, const Problem& p, std::int64_t side, double written,
            double shared_wavefronts) {
  const double bytes = as_double(p[kRows] * p[kColumns] * element_bytes(p.dtype));
  // Of the matrix, a whole tile: of one that is smaller, all.
  const double share = std::min(1.0, as_double(side) / as_double(p[kRows])) *
                       std::min(1.0, as_double(side) / as_double(p[kColumns]));
  step.issued.requested = share * Traffic{bytes, bytes};
  step.issued.l1 = step.issued.l2 =
      share * Traffic{sectors_along_rows(x_of(p), side) * kSectorBytes, written};
  step.waits.global = 1;
  if (plan.launch.shared_bytes > 0) {
    step.wavefronts.shared = share * shared_wavefronts;
    step.issued.shared_bytes = step.wavefronts.shared * as_double(kLineBytes);
    step.waits.shared = step.waits.barriers = 1;
    plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  }
  plan.arrays = {reads_activation(0, bytes), writes(1, bytes)};
  set_blocks_with_edge(plan, step, share);
}

// Cycles of the data pipe for `rows` rows of `extent` lanes, so many of them at a time, each
// `stride_bytes` after the one before.
double row_wavefronts(std::int64_t rows, std::int64_t extent, std::int64_t lanes,
                      std::int64_t stride_bytes, std::int64_t access_bytes) {
  const auto of = [&](std::int64_t together) {
    return as_double(shared_wavefronts(stride_bytes, access_bytes, 0, together));
  };
  return as_double(rows) * (as_double(extent / lanes) * of(lanes) + of(extent % lanes));
}

Plan plan_elements(const Problem& p, Way way) {
  const bool naive = way == Way::naive;
  const std::int64_t element = element_bytes(p.dtype);
  Plan plan;
  plan.launch.grid = {ceil_div(p[kColumns], kLanes), ceil_div(p[kRows], kLanes), 1};
  plan.launch.block = {kLanes, kWarps, 1};
  const compiled::Kernel kernel = naive ? compiled::kernel("transpose::naive_kernel", element)
                                        : compiled::kernel("transpose::tiled_kernel", element, way);
  plan.launch.registers = kernel.registers;
  // Of a warp by the counters, through shared memory.
  constexpr double kInstructionsThroughTile = 231;
  Step step;
  step.warp_instructions = kWarps * (naive ? kernel.straight : kInstructionsThroughTile);
  const double lines_of_row = std::max(1.0, as_double(kLanes * element) / as_double(kLineBytes));
  const double lines_written = naive ? as_double(kLanes) : lines_of_row;
  step.wavefronts.l1_lookups = step.wavefronts.l1 =
      as_double(kLanes) * (lines_of_row + lines_written);
  const double sectors =
      naive ? sectors_down_columns(y_of(p)) : sectors_along_rows(y_of(p), kLanes);
  double shared = 0;  // wavefronts
  if (naive) {
    const double each = sectors * kSectorBytes / as_double(p[kRows] * p[kColumns]);
    plan.notes.traffic_reasons = {
        {Level::l1, waste_text("stores a row apart", each, as_double(element))},
        {Level::dram,
         "L2 puts the pieces of a written sector together; some it has to write back before"}};
  } else {
    const std::int64_t pitch = kLanes + (way == Way::padded ? 1 : 0);
    plan.launch.shared_bytes = kLanes * pitch * element;
    // Stores lie side by side; loads too, spread over the banks, or down a column of the tile.
    const double loads = row_wavefronts(p[kColumns], p[kRows], kLanes,
                                        (way == Way::swizzled ? 1 : pitch) * element, element);
    shared = loads + row_wavefronts(p[kRows], p[kColumns], kLanes, element, element);
  }
  finish(plan, step, p, kLanes, sectors * kSectorBytes, shared);
  AccessPattern& stores = plan.arrays.back().pattern;
  const double partial = partial_sectors_along_rows(y_of(p), kLanes);
  // The next piece of a row of y, if it has several, is that of the tile below.
  if (p[kRows] > kLanes) {
    stores.write_run_bytes = as_double(kLanes * element);
    stores.blocks_to_next_run = as_double(plan.launch.grid[0]);
    stores.shared_run_ends = partial;
  }
  if (!naive) {
    stores.partial_writes = partial;
    stores.open_write_bytes = partial / 2 * kSectorBytes;  // two pieces share each
    stores.open_for_blocks = stores.blocks_to_next_run;
  } else if (p[kRows] > 1) {  // else a warp fills its sectors
    stores.partial_writes = sectors;
    stores.open_write_bytes = as_double(p[kRows] * p[kColumns] * element);
  }
  return plan;
}

// Accesses of 16 bytes: half a warp stores the patches of one row of the tile, `pitch` patches from
// one to the next, and loads them one beside the other.
Plan plan_patches(const Problem& p, Way way) {
  constexpr std::int64_t kAccess = 16;
  const std::int64_t k = patch(p.dtype);
  const std::int64_t side = k * kPatches;
  const std::int64_t pitch = kPatches + (way == Way::padded ? 1 : 0);
  Plan plan;
  plan.launch.grid = {ceil_div(p[kRows], side), ceil_div(p[kColumns], side), 1};
  plan.launch.block = {kPatches * kPatches, 1, 1};
  const compiled::Kernel kernel =
      compiled::kernel("transpose::patch_kernel", element_bytes(p.dtype), way);
  plan.launch.registers = kernel.registers;
  plan.launch.shared_bytes = k * kPatches * pitch * kAccess;

  Step step;
  step.warp_instructions = kWarps * kernel.straight;
  constexpr double kLinesOfAccess = 4;
  const double accesses = as_double(side * side) / as_double(k) / as_double(kWarpLanes);
  step.wavefronts.l1_lookups = step.wavefronts.l1 = 2 * accesses * kLinesOfAccess;
  // From lane to lane of a column. Rows of patches at the edge hold fewer.
  const std::int64_t column_stride = (way == Way::swizzled ? 1 : pitch) * kAccess;
  finish(plan, step, p, side, sectors_along_rows(y_of(p), side) * kSectorBytes,
         row_wavefronts(p[kRows], p[kColumns] / k, kPatches, column_stride, kAccess) +
             row_wavefronts(p[kColumns], p[kRows] / k, kPatches, kAccess, kAccess));
  plan.arrays.back().pattern.partial_writes = partial_sectors_along_rows(y_of(p), side);
  return plan;
}

template <Way kWay>
LaunchSequence plan(const Problem& p, const Gpu& /*gpu*/) {
  return launch_of(kWay != Way::naive && in_patches(p) ? plan_patches(p, kWay)
                                                       : plan_elements(p, kWay));
}

constexpr std::int64_t kMostRows = kMostBlocksYZ * kLanes;
constexpr std::array kParameters = {
    roofcast::Parameter{"rows", "rows of x, elements of a row of y", 1, kMostRows, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row of x, rows of y", 1, kMostRows, std::nullopt}};
constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};

constexpr std::array<KernelModel, 4> kVariants = {{
    {"transpose.naive", "loads along rows, stores down columns", kParameters, kTypes,
     plan<Way::naive>},
    {"transpose.tiled", "through shared memory, lanes in the same banks", kParameters, kTypes,
     plan<Way::tiled>},
    {"transpose.padded", "through shared memory, rows of the tile one access longer", kParameters,
     kTypes, plan<Way::padded>},
    {"transpose.swizzled", "through shared memory, columns of the tile exchanged by their row",
     kParameters, kTypes, plan<Way::swizzled>},
}};

Work work(const Problem& p) {
  const double bytes = as_double(p[kRows] * p[kColumns]) * size_bytes(p.dtype);
  Work result;
  result.compulsory = {bytes, bytes};
  return result;
}

}  // namespace

constinit const KernelFamily kFamily = {
    "transpose", "y[c,r] = x[r,c], row-major", kParameters, kTypes, work, streaming, kVariants, {}};

}  // namespace roofcast::transpose
