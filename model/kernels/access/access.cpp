#include "model/kernels/access/access.hpp"

#include <algorithm>
#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::access {
namespace {

// --- kernels that access global memory, each thread with one load (gather: two) and one store ---

/// Sectors and wavefronts of a launch's accesses to one array, or summed over several.
struct Touched {
  double sectors;     ///< distinct within a warp's access, summed over warps
  double l2_sectors;  ///< distinct within a block, summed over blocks: L1 serves the other loads
  double wavefronts;  ///< cycles of the data pipe

  friend Touched operator+(const Touched& a, const Touched& b) {
    return {a.sectors + b.sectors, a.l2_sectors + b.l2_sectors, a.wavefronts + b.wavefronts};
  }
  friend Touched operator*(double n, const Touched& a) {
    return {n * a.sectors, n * a.l2_sectors, n * a.wavefronts};
  }
};

// Distinct units touched by each group of `group` lanes, summed; all groups align as the first.
double units_by_group(WarpAccess all, std::int64_t group, std::int64_t unit_bytes) {
  const std::int64_t lanes = all.lanes;
  all.lanes = group;
  const auto of_whole = as_double(distinct_units(all, unit_bytes));
  all.lanes = lanes % group;
  return as_double(lanes / group) * of_whole + as_double(distinct_units(all, unit_bytes));
}

Touched of_lanes(const WarpAccess& all) {
  WarpAccess warp = all;
  warp.lanes = std::min(kWarpLanes, all.lanes);
  return {units_by_group(all, kWarpLanes, kSectorBytes),
          units_by_group(all, kThreads, kSectorBytes),
          warps_of(all.lanes) * as_double(bank_wavefronts(warp))};
}

Touched in_order(std::int64_t lanes, std::int64_t bytes) {
  return of_lanes({.stride_bytes = bytes, .access_bytes = bytes, .lanes = lanes});
}

// The plan without its arrays. `share`: a full block's share of the accesses, the product of
// share_of() over the extents. `requested`: bytes that all threads ask for.
Plan plan_of(const compiled::Kernel& kernel, const Launch& launch, double share,
             const Traffic& requested, const Touched& loads, const Touched& stores) {
  Plan plan;
  plan.launch = launch;
  plan.launch.registers = kernel.registers;
  const double stored = stores.sectors * kSectorBytes;
  Step step;
  step.issued.requested = share * requested;
  step.issued.l1 = share * Traffic{loads.sectors * kSectorBytes, stored};
  step.issued.l2 = share * Traffic{loads.l2_sectors * kSectorBytes, stored};
  step.warp_instructions = plan.launch.warps() * kernel.straight;
  step.wavefronts.l1 = share * (loads.wavefronts + stores.wavefronts);
  step.waits.global = 1;
  set_blocks_with_edge(plan, step, share);
  return plan;
}

// The same for a 1-D launch whose `threads` threads each store `bytes` bytes, contiguously.
Plan plan_of(const compiled::Kernel& kernel, std::int64_t threads, const Traffic& requested,
             const Touched& loads, std::int64_t bytes) {
  const Launch launch{.grid = {ceil_div(threads, kThreads), 1, 1}, .block = {kThreads, 1, 1}};
  return plan_of(kernel, launch, share_of(kThreads, threads), requested, loads,
                 in_order(threads, bytes));
}

// The plan of strided loads and contiguous stores. `load` describes all lanes.
Plan plan_lanes(const compiled::Kernel& kernel, const WarpAccess& load, const Gpu& gpu) {
  const double bytes = as_double(load.lanes * load.access_bytes);
  Plan plan = plan_of(kernel, load.lanes, {bytes, bytes}, of_lanes(load), load.access_bytes);
  const std::int64_t unit = dram_access_bytes(gpu);
  const double dram = as_double(distinct_units(load, unit) * unit);
  const double span = as_double((load.lanes - 1) * load.stride_bytes + load.access_bytes);
  plan.arrays = {{0, {bytes, 0}, {dram, 0}, {.read_density = std::min(1.0, dram / span)}},
                 writes(1, bytes)};
  return plan;
}

// Distinct units of `places` elements that the first `lanes` lanes of a shuffled gather touch. Any
// later `lanes` lanes touch the same number or one more, as counted over all windows.
double shuffled_units(std::int64_t window, std::int64_t lanes, std::int64_t places) {
  std::array<std::int64_t, kThreads> units{};
  for (std::int64_t i = 0; i < lanes; ++i) {
    const std::int64_t within = i & (window - 1);
    const std::uint64_t place = static_cast<std::uint64_t>(within) * gather::kMultiplier;
    units[static_cast<std::size_t>(i)] =
        (i - within + (static_cast<std::int64_t>(place) & (window - 1))) / places;
  }
  const auto end = units.begin() + lanes;
  std::sort(units.begin(), end);
  return as_double(std::unique(units.begin(), end) - units.begin());
}

// Accesses of a gather: shuffled lanes read distinct elements, uniform lanes any of the table.
Touched gathered(const Problem& p, std::int64_t element) {
  const std::int64_t n = p[gather::kElements], window = p[gather::kWindow];
  const double warps = warps_of(n);
  if (p[gather::kDistribution] == gather::kUniform) {
    // Expected number of words in the fullest of 32 banks, for 32 random words.
    constexpr double kRandomWavefronts = 3.53;
    const auto of_warp = [&](std::int64_t unit_bytes) {
      const double units = as_double(window * element) / as_double(unit_bytes);
      return expected_distinct(std::max(1.0, units), kWarpLanes);
    };
    const double sectors = of_warp(kSectorBytes);
    return warps * Touched{sectors, sectors, std::min(kRandomWavefronts, of_warp(kLineBytes))};
  }
  const auto sectors = [&](std::int64_t group) {
    return as_double(ceil_div(n, group)) *
           shuffled_units(window, std::min(group, n), kSectorBytes / element);
  };
  // The lanes of a warp hit different banks, as in a contiguous access.
  return {sectors(kWarpLanes), sectors(kThreads), in_order(n, element).wavefronts};
}

LaunchSequence plan_strided(const Problem& p, const Gpu& gpu) {
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[strided::kElements], stride = p[strided::kStride];
  const std::int64_t width = p[strided::kWidth];
  require(n % width == 0, "n is ", n, ": give a multiple of width, ", width);
  require(stride % width == 0, "stride is ", stride, ": give a multiple of width, ", width);
  require(is_power_of_two(width) && width * element <= 16, "width is ", width,
          ": give 1, 2, 4 or 8 elements, of at most 16 bytes");
  const WarpAccess load{
      .stride_bytes = stride * element, .access_bytes = width * element, .lanes = n / width};
  Plan plan = plan_lanes(compiled::kernel("access::strided_kernel", element, width), load, gpu);
  if (stride > width) {
    const auto waste = [&](double moved) {
      return waste_text("stride " + std::to_string(stride), moved / as_double(load.lanes),
                        as_double(load.access_bytes));
    };
    plan.notes.traffic_reasons = {{Level::l1, waste(of_lanes(load).sectors * kSectorBytes)},
                                  {Level::dram, waste(plan.arrays[0].footprint.read_bytes)}};
  }
  return launch_of(std::move(plan));
}

LaunchSequence plan_offset(const Problem& p, const Gpu& gpu) {
  const std::int64_t element = element_bytes(p.dtype), offset = p[offset::kOffset];
  const WarpAccess load{.stride_bytes = element,
                        .access_bytes = element,
                        .offset_bytes = offset * element,
                        .lanes = p[offset::kElements]};
  Plan plan = plan_lanes(compiled::kernel("access::offset_kernel", element), load, gpu);
  if (load.offset_bytes % kSectorBytes != 0) {
    plan.notes.traffic_reasons = {
        {Level::l1, "offset " + std::to_string(offset) +
                        ": no warp begins on a sector boundary, so each takes one sector more"},
        {Level::l2, "a warp's last sector is the next warp's first: L1 has it within a block"}};
  }
  return launch_of(std::move(plan));
}

LaunchSequence plan_gather(const Problem& p, const Gpu& gpu) {
  constexpr std::int64_t kIndexBytes = 4;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[gather::kElements], window = p[gather::kWindow];
  require(is_power_of_two(window), "window is ", window, ": give a power of two");
  const bool uniform = p[gather::kDistribution] == gather::kUniform;
  require(uniform || n % window == 0, "n is ", n, ": give a multiple of window, ", window);
  const Touched found = gathered(p, element);
  const double elements = as_double(n * element), indices = as_double(n * kIndexBytes);
  Plan plan = plan_of(compiled::kernel("access::gather_kernel", element), n,
                      {elements + indices, elements}, in_order(n, kIndexBytes) + found, element);
  const double table = as_double((uniform ? std::min(window, n) : n) * element);
  plan.arrays = {reads(0, indices), {1, {table, 0}, {}}, writes(2, elements)};
  const auto waste = [&](Level level, double sectors) {
    plan.notes.traffic_reasons.push_back(
        {level, waste_text(uniform ? "uniform gather" : "shuffled gather",
                           sectors * kSectorBytes / as_double(n), as_double(element))});
  };
  waste(Level::l1, found.sectors);
  if (uniform) {
    plan.arrays[1].random = RandomReads{.sectors = found.sectors,
                                        .table_bytes = as_double(window * element),
                                        .streamed_lines = as_double(kIndexBytes) / kLineBytes};
    return launch_of(std::move(plan));
  }
  waste(Level::l2, found.l2_sectors);
  const double unit = as_double(dram_access_bytes(gpu));
  plan.arrays[1].footprint = {std::ceil(elements / unit) * unit, 0};
  plan.blocks.front().phases.front().step.waits.global += 1;  // for the index
  return launch_of(std::move(plan));
}

// Copies a matrix with a warp's lanes along a row, or (kDown) down a column.
template <bool kDown>
LaunchSequence plan_matrix(const Problem& p, const Gpu& /*gpu*/) {
  using matrix::kDepth;
  using matrix::kLanes;
  const DenseMatrix m{p[matrix::kRows], p[matrix::kColumns], element_bytes(p.dtype)};
  const double elements = as_double(m.rows * m.columns), used = as_double(m.element_bytes);
  const double bytes = elements * used;
  Touched each{};  // loads; the stores touch the same sectors
  if (kDown) {
    each = as_double(m.columns) *
           of_lanes(
               {.stride_bytes = m.pitch_bytes(), .access_bytes = m.element_bytes, .lanes = m.rows});
    each.sectors = sectors_down_columns(m);
    // A block reads a run of kDepth columns of each row: its sectors come from L2 once, and the
    // block's other columns hit them in L1. Rows shorter than a sector share sectors.
    each.l2_sectors = std::min(each.sectors, sectors_along_rows(m, kDepth));
  } else {
    each = as_double(m.rows) * in_order(m.columns, m.element_bytes);
    each.sectors = each.l2_sectors = sectors_along_rows(m);
  }
  constexpr std::int64_t kWide = kDown ? kDepth : kLanes, kTall = kDown ? kLanes : kDepth;
  Plan plan =
      plan_of(compiled::kernel(kDown ? "access::column_wise_kernel" : "access::row_wise_kernel",
                               m.element_bytes),
              {.grid = {ceil_div(m.columns, kWide), ceil_div(m.rows, kTall), 1},
               .block = {kLanes, kDepth, 1}},
              share_of(kWide, m.columns) * share_of(kTall, m.rows), {bytes, bytes}, each, each);
  plan.arrays = {reads(0, bytes), writes(1, bytes)};
  plan.arrays.back().pattern.partial_writes = kDown ? each.sectors : partial_sectors_along_rows(m);
  if (kDown) {
    plan.notes.traffic_reasons = {
        {Level::l1, waste_text("lanes a row apart", each.sectors * kSectorBytes / elements, used)},
        {Level::l2,
         "L1 keeps a sector for the block's neighbouring columns; stores go on as they are"},
        {Level::dram, "L2 puts the pieces of a written sector together"}};
  }
  return launch_of(std::move(plan));
}

constexpr Parameter kN = {"n", "elements of y", 1, std::int64_t{1} << 36};

constexpr std::array kStridedParameters = {
    kN, Parameter{"stride", "elements from one access to the next", 1, 65536},
    Parameter{"width", "elements of an access: 1, 2, 4 or 8", 1, 8, 1}};
constexpr std::array kOffsetParameters = {
    kN, Parameter{"offset", "elements before the first that is read", 0, 1 << 20}};
constexpr std::array kGatherParameters = {
    kN,
    Parameter{"window", "elements among which an index is drawn: a power of two", 1,
              std::int64_t{1} << 32, std::int64_t{1} << 20},
    choice("distribution",
           "shuffled: a permutation inside each window; uniform: independent draws from a table of "
           "one window",
           gather::kDistributions, gather::kUniform)};
constexpr std::array kMatrixParameters = {
    Parameter{"rows", "rows of x and y", 1, std::int64_t{1} << 24},
    Parameter{"cols", "elements of a row", 1, std::int64_t{1} << 24}};
constexpr std::array kSharedParameters = {
    kN, Parameter{"stride", "words from one lane to the next", 0, 256},
    Parameter{"width", "words of an access: 1, 2 or 4", 1, 4, 1},
    Parameter{"repeats", "accesses of a thread: a multiple of 8", 8, 65536, 64}};

constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};
constexpr std::array kFp32 = {DType::fp32};

constexpr std::array<KernelModel, 6> kVariants = {{
    {"access.strided", "y[i] = x[i·stride]", kStridedParameters, kTypes, plan_strided},
    {"access.offset", "y[i] = x[i + offset]", kOffsetParameters, kTypes, plan_offset},
    {"access.gather", "y[i] = x[index[i]]", kGatherParameters, kTypes, plan_gather},
    {"access.row_wise", "y = x, lanes along the rows", kMatrixParameters, kTypes,
     plan_matrix<false>},
    {"access.column_wise", "y = x, lanes down the columns", kMatrixParameters, kTypes,
     plan_matrix<true>},
    {"access.shared", "strided loads from shared memory: bank conflicts", kSharedParameters, kFp32,
     plan_shared},
}};

}  // namespace

constinit const KernelFamily kFamily = {
    "access", "one element in, one out, in various orders", {}, kTypes, kVariants};

}  // namespace roofcast::access
