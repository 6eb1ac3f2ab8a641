#include "model/kernels/transpose/transpose.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/counting/row_segments.hpp"
#include "model/counting/shared_banks.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::transpose {
namespace {

// Instructions of a warp by the counters, element by element through shared memory.
constexpr double kInstructionsThroughTile = 231;

// Bytes in whole sectors of runs of `piece` elements along the rows of x and of y.
Traffic rows_traffic(const Problem& p, std::int64_t piece) {
  const std::int64_t element = element_bytes(p.dtype);
  return {sectors_along_rows({p[kRows], p[kColumns], element}, piece) * kSectorBytes,
          sectors_along_rows({p[kColumns], p[kRows], element}, piece) * kSectorBytes};
}

// Of the matrix, a whole tile: of one that is smaller, all.
double share_of_tile(const Problem& p, std::int64_t side) {
  return std::min(1.0, as_double(side) / as_double(p[kRows])) *
         std::min(1.0, as_double(side) / as_double(p[kColumns]));
}

// What all ways have in common, once `step` says what is theirs; `moved` is the launch's traffic.
Plan& finish(Plan& plan, Step& step, const Problem& p, std::int64_t side, const Traffic& moved) {
  const double bytes = as_double(p[kRows] * p[kColumns] * element_bytes(p.dtype));
  const double share = share_of_tile(p, side);
  step.issued.requested = shared_by({bytes, bytes}, 1 / share);
  step.issued.l1 = step.issued.l2 = shared_by(moved, 1 / share);
  step.waits.global = 1;
  plan.arrays = {reads_activation(0, bytes), writes(1, bytes)};
  set_blocks_with_edge(plan, step, share);
  return plan;
}

void count_shared(Plan& plan, Step& step, double wavefronts) {
  step.wavefronts.shared = wavefronts;
  step.issued.shared_bytes = step.wavefronts.shared * as_double(kLineBytes);
  step.waits.shared = 1;
  step.waits.barriers = 1;
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
}

constexpr std::int64_t kWordBytes = 4;  // of a bank

// Cycles of the data pipe for all columns of all tiles of 32 × 32 that go element by element: lane
// l reads row l of the tile, and the last tiles have fewer rows.
double column_loads(const Problem& p, std::int64_t element, std::int64_t pitch) {
  // Columns whole words apart meet the same conflicts in other banks.
  const std::int64_t period = std::max<std::int64_t>(1, kWordBytes / element);
  double sum = 0;
  for (std::int64_t column = 0; column < std::min(period, p[kColumns]); ++column) {
    const std::int64_t columns_like_it = ceil_div(p[kColumns] - column, period);
    const auto loads = [&](std::int64_t lanes) {
      return lanes == 0
                 ? 0.0
                 : as_double(shared_wavefronts(pitch * element, element, column * element, lanes));
    };
    sum += as_double(columns_like_it) *
           (as_double(p[kRows] / kLanes) * loads(kLanes) + loads(p[kRows] % kLanes));
  }
  return sum;
}

// Lanes side by side, or spread over the banks.
double conflict_free(std::int64_t rows, std::int64_t columns, std::int64_t element) {
  const auto stores = [&](std::int64_t lanes) {
    return lanes == 0 ? 0.0 : as_double(shared_wavefronts(element, element, 0, lanes));
  };
  return as_double(rows) *
         (as_double(columns / kLanes) * stores(kLanes) + stores(columns % kLanes));
}

Plan plan_elements(const Problem& p, Way way) {
  const std::int64_t element = element_bytes(p.dtype);
  Plan plan;
  Traffic moved = rows_traffic(p, kLanes);
  plan.launch.grid = {ceil_div(p[kColumns], kLanes), ceil_div(p[kRows], kLanes), 1};
  plan.launch.block = {kLanes, kWarps, 1};
  const compiled::Kernel kernel = way == Way::naive
                                      ? compiled::kernel("transpose::naive_kernel", element)
                                      : compiled::kernel("transpose::tiled_kernel", element, way);
  plan.launch.registers = kernel.registers;
  Step step;
  const double rows_moved = as_double(kLanes);
  const double lines_of_row = std::max(1.0, as_double(kLanes * element) / as_double(kLineBytes));
  step.warp_instructions =
      kWarps * (way == Way::naive ? kernel.straight : kInstructionsThroughTile);
  step.wavefronts.l1_lookups = step.wavefronts.l1 = 2 * rows_moved * lines_of_row;
  if (way == Way::naive) {
    const double sectors = sectors_down_columns({p[kColumns], p[kRows], element});
    moved.write_bytes = sectors * kSectorBytes;
    step.wavefronts.l1_lookups = step.wavefronts.l1 =
        rows_moved * (lines_of_row + as_double(kLanes));
    const double each = sectors * kSectorBytes / as_double(p[kRows] * p[kColumns]);
    plan.notes.traffic_reasons = {
        {Level::l1, waste_text("stores a row apart", each, as_double(element))},
        {Level::dram,
         "L2 puts the pieces of a written sector together; some it has to write back before"}};
  } else {
    const std::int64_t pitch = kLanes + (way == Way::padded ? 1 : 0);
    plan.launch.shared_bytes = kLanes * pitch * element;
    const double loads = way == Way::swizzled ? conflict_free(p[kColumns], p[kRows], element)
                                              : column_loads(p, element, pitch);
    count_shared(
        plan, step,
        share_of_tile(p, kLanes) * (conflict_free(p[kRows], p[kColumns], element) + loads));
  }
  finish(plan, step, p, kLanes, moved);
  AccessPattern& stores = plan.arrays.back().pattern;
  // The next piece of a row of y, if it has several, is that of the tile below.
  if (p[kRows] > kLanes) {
    stores.write_run_bytes = as_double(kLanes * element);
    stores.blocks_to_next_run = as_double(plan.launch.grid[0]);
    stores.shared_run_ends = partial_sectors_along_rows({p[kColumns], p[kRows], element}, kLanes);
  }
  if (way == Way::naive) {
    if (p[kRows] == 1) return plan;  // a warp fills its sectors
    stores.partial_writes = moved.write_bytes / kSectorBytes;
    stores.open_write_bytes = as_double(p[kRows] * p[kColumns] * element);
  } else {
    stores.partial_writes = partial_sectors_along_rows({p[kColumns], p[kRows], element}, kLanes);
    // Two pieces share each.
    stores.open_write_bytes = stores.partial_writes / 2 * kSectorBytes;
    stores.open_for_blocks = stores.blocks_to_next_run;
  }
  return plan;
}

// Accesses of 16 bytes: half a warp stores the patches of one row of the tile, `pitch` patches from
// one to the next, and loads them one beside the other.
Plan plan_patches(const Problem& p, Way way) {
  const std::int64_t k = patch(p.dtype);
  const std::int64_t side = k * kPatches;
  const std::int64_t pitch = kPatches + (way == Way::padded ? 1 : 0);
  constexpr std::int64_t kAccess = 16;
  Plan plan;
  plan.launch.grid = {ceil_div(p[kRows], side), ceil_div(p[kColumns], side), 1};
  plan.launch.block = {kPatches * kPatches, 1, 1};
  const compiled::Kernel kernel =
      compiled::kernel("transpose::patch_kernel", element_bytes(p.dtype), way);
  plan.launch.registers = kernel.registers;
  plan.launch.shared_bytes = k * kPatches * pitch * kAccess;

  // From lane to lane of a column, in patches.
  const std::int64_t spread = way == Way::swizzled ? 1 : pitch;
  // Half a warp is served at a time. Rows of patches at the edge hold fewer.
  const auto wavefronts = [&](std::int64_t step, std::int64_t lanes) {
    return lanes == 0 ? 0.0 : as_double(shared_wavefronts(step * kAccess, kAccess, 0, lanes));
  };
  const auto of_all = [&](std::int64_t rows, std::int64_t columns, std::int64_t step) {
    return as_double(rows) * as_double(k) *
           (as_double(columns / kPatches) * wavefronts(step, kPatches) +
            wavefronts(step, columns % kPatches));
  };
  Step step;
  const std::int64_t row_patches = p[kRows] / k;
  const std::int64_t column_patches = p[kColumns] / k;
  count_shared(plan, step,
               share_of_tile(p, side) * (of_all(row_patches, column_patches, spread) +
                                         of_all(column_patches, row_patches, 1)));

  const double accesses = as_double(side * side) / as_double(k) / as_double(kWarpLanes);
  step.warp_instructions = kWarps * kernel.straight;
  constexpr double kLinesOfAccess = 4;
  step.wavefronts.l1_lookups = step.wavefronts.l1 = 2 * accesses * kLinesOfAccess;
  finish(plan, step, p, side, rows_traffic(p, side));
  plan.arrays.back().pattern.partial_writes =
      partial_sectors_along_rows({p[kColumns], p[kRows], element_bytes(p.dtype)}, side);
  return plan;
}

template <Way kWay>
LaunchSequence plan(const Problem& p, const Gpu& /*gpu*/) {
  if (kWay != Way::naive && in_patches(p)) return launch_of(plan_patches(p, kWay));
  return launch_of(plan_elements(p, kWay));
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
