#include "model/kernels/transpose/transpose.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::transpose {
namespace {

// Cycles of the data pipe for `rows` rows of `extent` accesses, `lanes` at a time, `stride_bytes`
// from one to the next. Each row begins one access after the previous row; rows that begin at the
// same byte of a 4-byte bank have the same conflicts.
double row_wavefronts(std::int64_t rows, std::int64_t extent, std::int64_t lanes,
                      std::int64_t stride_bytes, std::int64_t access_bytes) {
  const std::int64_t places = std::max<std::int64_t>(1, 4 / access_bytes);
  double sum = 0;
  for (std::int64_t place = 0; place < std::min(places, rows); ++place) {
    const auto of = [&](std::int64_t together) {
      return as_double(
          shared_wavefronts({stride_bytes, access_bytes, place * access_bytes, together}));
    };
    sum += as_double(ceil_div(rows - place, places)) *
           (as_double(extent / lanes) * of(lanes) + of(extent % lanes));
  }
  return sum;
}

// naive: a warp stores down a column of y. Others: a tile goes through shared memory, element by
// element or in patches by 16-byte accesses, which shared memory serves half a warp at a time.
template <Way kWay>
LaunchSequence plan(const Problem& p, const Gpu& /*gpu*/) {
  constexpr bool kNaive = kWay == Way::naive;
  const bool patches = !kNaive && in_patches(p);
  const std::int64_t element = element_bytes(p.dtype), rows = p[kRows], columns = p[kColumns];
  const std::int64_t lanes = patches ? kPatches : kLanes, k = patches ? patch(p.dtype) : 1;
  const std::int64_t side = lanes * k, access = k * element;  // a tile's (elements); bytes
  const DenseMatrix x{rows, columns, element}, y{columns, rows, element};
  const double bytes = as_double(rows * columns * element);
  const double share = share_of(side, rows) * share_of(side, columns);

  Plan plan;
  const std::int64_t down = ceil_div(rows, side), along = ceil_div(columns, side);
  plan.launch.grid = {patches ? down : along, patches ? along : down, 1};
  plan.launch.block = {kLanes, kWarps, 1};
  if (patches) plan.launch.block = {kLanes * kWarps, 1, 1};
  const compiled::Kernel kernel = kNaive ? compiled::kernel("transpose::naive_kernel", element)
                                  : patches
                                      ? compiled::kernel("transpose::patch_kernel", element, kWay)
                                      : compiled::kernel("transpose::tiled_kernel", element, kWay);
  plan.launch.registers = kernel.registers;

  const double sectors = kNaive ? sectors_down_columns(y) : sectors_along_rows(y, side);
  Step step;
  step.issued.requested = share * Traffic{bytes, bytes};
  step.issued.l1 = step.issued.l2 =
      share * kSectorBytes * Traffic{sectors_along_rows(x, side), sectors};
  // Without patches a thread moves four elements, in one iteration of each unrolled loop.
  step.warp_instructions = kWarps * (kernel.straight + kernel.loops[1] + kernel.loops[3]);
  const double accesses = as_double(side * side / k / kWarpLanes);
  const double lines = std::max(1.0, as_double(kWarpLanes * access) / kLineBytes);
  step.wavefronts.l1_lookups = step.wavefronts.l1 =
      accesses * (lines + (kNaive ? as_double(kWarpLanes) : lines));
  step.waits.global = 1;
  if (kNaive) {
    const double each = sectors * kSectorBytes / as_double(rows * columns);
    plan.notes.traffic_reasons = {
        {Level::l1, waste_text("stores a row apart", each, as_double(element))},
        {Level::dram,
         "L2 puts the pieces of a written sector together; some it has to write back before"}};
  } else {
    const std::int64_t pitch = lanes + (kWay == Way::padded ? 1 : 0);
    plan.launch.shared_bytes = side * pitch * access;
    plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
    // Single elements are read down a column of the tile; patches are written down a column.
    const std::int64_t stride = (kWay == Way::swizzled ? 1 : pitch) * access;
    step.wavefronts.shared =
        share * (row_wavefronts(columns, rows / k, lanes, patches ? access : stride, access) +
                 row_wavefronts(rows, columns / k, lanes, patches ? stride : access, access));
    step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
    step.waits.shared = step.waits.barriers = 1;
  }
  plan.arrays = {reads_activation(0, bytes), writes(1, bytes)};
  set_blocks_with_edge(plan, step, share);

  AccessPattern& stores = plan.arrays.back().pattern;
  const double partial = partial_sectors_along_rows(y, side);
  if (!kNaive) stores.partial_writes = partial;
  if (patches) {
    // Blocks go down x: the next piece of a row of x is read by the block of the next tile column.
    plan.arrays.front().pattern.read_density = density_of_pieces(side * element, columns * element);
    return launch_of(std::move(plan));
  }
  // The next piece of a row of y is written by the block of the tile below.
  if (rows > kLanes) {
    stores.write_run_bytes = as_double(kLanes * element);
    stores.blocks_to_next_run = as_double(along);
    stores.shared_run_ends = partial;
  }
  if (!kNaive) {
    stores.open_write_bytes = partial / 2 * kSectorBytes;  // two pieces share each sector
    stores.open_for_blocks = stores.blocks_to_next_run;
  } else if (rows > 1) {  // with one row a warp fills its sectors
    stores.partial_writes = sectors;
    stores.open_write_bytes = bytes;
  }
  return launch_of(std::move(plan));
}

constexpr std::int64_t kMostRows = kMostBlocksYZ * kLanes;
constexpr std::array kParameters = {
    roofcast::Parameter{"rows", "rows of x, elements of a row of y", 1, kMostRows},
    roofcast::Parameter{"cols", "elements of a row of x, rows of y", 1, kMostRows}};
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
  return {.compulsory = {bytes, bytes}};
}

}  // namespace

constinit const KernelFamily kFamily = {
    "transpose", "y[c,r] = x[r,c], row-major", kParameters, kTypes, kVariants, {}, work};

}  // namespace roofcast::transpose
