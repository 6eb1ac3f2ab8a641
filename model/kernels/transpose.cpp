#include "model/kernels/transpose.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/counting/row_segments.hpp"
#include "model/counting/shared_banks.hpp"

namespace roofcast::transpose {
namespace {

enum class Way : unsigned char { naive, tiled, padded };

// Warp instructions by the SASS for sm_90a (2026-11-21): for each access to global memory and to
// the tile, and besides.
constexpr double kInstructionsPerAccess = 9;
constexpr double kInstructionsPerWarp = 40;

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t parts(std::int64_t extent, std::int64_t part) {
  return (extent + part - 1) / part;
}

// What all ways have in common; `piece` is the run of elements that lanes move along a row.
Plan moving_plan(const Problem& p, std::int64_t piece) {
  const auto element = static_cast<std::int64_t>(size_bytes(p.dtype));
  const double bytes = as_double(p[kRows] * p[kColumns] * element);
  Plan plan;
  Work& work = plan.total;
  work.requested = work.compulsory = work.dram_footprint = {bytes, bytes};
  work.l1 = {sectors_along_rows({p[kRows], p[kColumns], element}, piece) * kSectorBytes,
             sectors_along_rows({p[kColumns], p[kRows], element}, piece) * kSectorBytes};
  work.l2 = work.l1;
  plan.block.steps = 0;
  plan.block.once.global_round_trips = 1;
  return plan;
}

void count_shared(Plan& plan, double wavefronts) {
  Step& once = plan.block.once;
  once.shared_wavefronts = wavefronts / as_double(plan.launch.blocks());
  once.shared_round_trips = 1;
  once.barriers = 1;
  plan.total.shared_bytes = wavefronts * as_double(kLineBytes);
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
}

// Cycles of the data pipe for all columns of all tiles of 32 × 32 that go element by element: lane
// l reads row l of the tile, and the last tiles have fewer rows.
double column_loads(const Problem& p, std::int64_t element, std::int64_t pitch) {
  double sum = 0;
  for (std::int64_t column = 0; column < std::min(kLanes, p[kColumns]); ++column) {
    const std::int64_t columns_like_it = parts(p[kColumns] - column, kLanes);
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

double row_stores(const Problem& p, std::int64_t element) {
  const auto stores = [&](std::int64_t lanes) {
    return lanes == 0 ? 0.0 : as_double(shared_wavefronts(element, element, 0, lanes));
  };
  return as_double(p[kRows]) *
         (as_double(p[kColumns] / kLanes) * stores(kLanes) + stores(p[kColumns] % kLanes));
}

Plan plan_elements(const Problem& p, Way way) {
  const auto element = static_cast<std::int64_t>(size_bytes(p.dtype));
  Plan plan = moving_plan(p, kLanes);
  plan.launch.grid = {parts(p[kColumns], kLanes), parts(p[kRows], kLanes), 1};
  plan.launch.block = {kLanes, kWarps, 1};
  plan.launch.registers = way != Way::naive ? 30 : element == 8 ? 28 : 26;
  Step& once = plan.block.once;
  const double rows_moved = as_double(kLanes);
  const double lines_of_row = std::max(1.0, as_double(kLanes * element) / as_double(kLineBytes));
  once.instructions = 2 * rows_moved * kInstructionsPerAccess + kWarps * kInstructionsPerWarp;
  once.l1_lookups = once.l1_wavefronts = 2 * rows_moved * lines_of_row;
  if (way == Way::naive) {
    const double sectors = sectors_down_columns({p[kColumns], p[kRows], element});
    plan.total.l1.write_bytes = plan.total.l2.write_bytes = sectors * kSectorBytes;
    plan.scatter.partial_write_sectors = sectors;
    plan.scatter.open_write_bytes = plan.total.compulsory.write_bytes;
    once.l1_lookups = once.l1_wavefronts = rows_moved * (lines_of_row + as_double(kLanes));
    const double each = sectors * kSectorBytes / as_double(p[kRows] * p[kColumns]);
    plan.traffic_reasons = {
        {Level::l1, waste_text("stores a row apart", each, as_double(element))},
        {Level::dram,
         "L2 puts the pieces of a written sector together; some it has to write back before"}};
  } else {
    const std::int64_t pitch = kLanes + (way == Way::padded ? 1 : 0);
    plan.launch.shared_bytes = kLanes * pitch * element;
    count_shared(plan, row_stores(p, element) + column_loads(p, element, pitch));
  }
  once.l2_bytes = plan.total.l2.total_bytes() / as_double(plan.launch.blocks());
  return plan;
}

// Accesses of 16 bytes: half a warp stores the patches of one row of the tile, `pitch` patches from
// one to the next, and loads them one beside the other.
Plan plan_patches(const Problem& p, Way way) {
  const std::int64_t k = patch(p.dtype);
  const std::int64_t side = k * kPatches;
  const std::int64_t pitch = kPatches + (way == Way::padded ? 1 : 0);
  constexpr std::int64_t kAccess = 16;
  Plan plan = moving_plan(p, side);
  plan.launch.grid = {parts(p[kRows], side), parts(p[kColumns], side), 1};
  plan.launch.block = {kPatches * kPatches, 1, 1};
  plan.launch.registers = k == 2 ? 28 : k == 4 ? 40 : 64;
  plan.launch.shared_bytes = k * kPatches * pitch * kAccess;

  // Half a warp is served at a time. Rows of patches at the edge hold fewer.
  const auto wavefronts = [&](std::int64_t step, std::int64_t lanes) {
    return lanes == 0 ? 0.0 : as_double(shared_wavefronts(step * kAccess, kAccess, 0, lanes));
  };
  const auto of_all = [&](std::int64_t rows, std::int64_t columns, std::int64_t step) {
    return as_double(rows) * as_double(k) *
           (as_double(columns / kPatches) * wavefronts(step, kPatches) +
            wavefronts(step, columns % kPatches));
  };
  const std::int64_t row_patches = p[kRows] / k;
  const std::int64_t column_patches = p[kColumns] / k;
  count_shared(plan,
               of_all(row_patches, column_patches, pitch) + of_all(column_patches, row_patches, 1));

  Step& once = plan.block.once;
  const double accesses = as_double(side * side) / as_double(k) / as_double(kWarpLanes);
  constexpr double kTurningHalves = 4;  // byte permutations for each access
  once.instructions = 2 * accesses * kInstructionsPerAccess + kWarps * kInstructionsPerWarp +
                      (k == 8 ? accesses * kTurningHalves : 0);
  constexpr double kLinesOfAccess = 4;
  once.l1_lookups = once.l1_wavefronts = 2 * accesses * kLinesOfAccess;
  once.l2_bytes = plan.total.l2.total_bytes() / as_double(plan.launch.blocks());
  return plan;
}

template <Way kWay>
Plans plan(const Problem& p, const Gpu& /*gpu*/) {
  if (kWay != Way::naive && in_patches(p)) return {plan_patches(p, kWay)};
  return {plan_elements(p, kWay)};
}

constexpr std::int64_t kMostRows = 65535 * kLanes;
constexpr std::array kParameters = {
    roofcast::Parameter{"rows", "rows of x, elements of a row of y", 1, kMostRows, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row of x, rows of y", 1, kMostRows, std::nullopt}};
constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};

constexpr std::array<KernelModel, 3> kVariants = {{
    {"transpose.naive", "loads along rows, stores down columns", kParameters, kTypes,
     plan<Way::naive>},
    {"transpose.tiled", "through shared memory, lanes in the same banks", kParameters, kTypes,
     plan<Way::tiled>},
    {"transpose.padded", "through shared memory, rows of the tile one access longer", kParameters,
     kTypes, plan<Way::padded>},
}};

Work work(const Problem& p) {
  const double bytes = as_double(p[kRows] * p[kColumns]) * size_bytes(p.dtype);
  Work result;
  result.compulsory = {bytes, bytes};
  return result;
}

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "transpose", "y[c,r] = x[r,c], row-major", kParameters, kTypes, work, io, kVariants, {}};

}  // namespace roofcast::transpose
