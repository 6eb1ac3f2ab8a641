// Kernels with one load and one store of global memory a thread.
#include <algorithm>
#include <cmath>
#include <span>

#include "model/counting/coalescing.hpp"
#include "model/counting/dram_access.hpp"
#include "model/counting/row_segments.hpp"
#include "model/kernels/access/plans.hpp"

namespace roofcast::access {
namespace {

/// What all warps of a launch touch in one array, or in several.
struct Touched {
  double sectors = 0;     ///< warp by warp
  double l2_sectors = 0;  ///< block by block: of loads, what L1 does not have
  double lines = 0;       ///< warp by warp
  double wavefronts = 0;  ///< of the data pipe

  Touched& operator+=(const Touched& other) {
    sectors += other.sectors;
    l2_sectors += other.l2_sectors;
    lines += other.lines;
    wavefronts += other.wavefronts;
    return *this;
  }
  friend Touched operator*(double n, const Touched& a) {
    return {n * a.sectors, n * a.l2_sectors, n * a.lines, n * a.wavefronts};
  }
};

// Units that so many lanes touch, warp after warp; every warp begins on the same alignment.
double units_of_warps(WarpAccess access, std::int64_t lanes, std::int64_t unit_bytes) {
  access.lanes = kWarpLanes;
  const auto of_whole = as_double(distinct_units(access, unit_bytes));
  access.lanes = lanes % kWarpLanes;
  return as_double(lanes / kWarpLanes) * of_whole + as_double(distinct_units(access, unit_bytes));
}

Touched of_warps(WarpAccess access, std::int64_t lanes) {
  const double sectors = units_of_warps(access, lanes, kSectorBytes);
  const double lines = units_of_warps(access, lanes, kLineBytes);
  access.lanes = std::min(kWarpLanes, lanes);
  return {sectors, sectors, lines, warps_of(lanes) * as_double(bank_wavefronts(access))};
}

Touched in_order(std::int64_t lanes, std::int64_t bytes) {
  return of_warps({.stride_bytes = bytes, .access_bytes = bytes}, lanes);
}

// Of one block but for wavefronts: thread i touches `bytes` at starts[i].
Touched of_block(std::span<const std::int64_t> starts, std::int64_t bytes) {
  Touched sum;
  sum.l2_sectors = as_double(distinct_units(starts, bytes, kSectorBytes));
  while (!starts.empty()) {
    const auto warp = starts.first(std::min<std::size_t>(kWarpLanes, starts.size()));
    sum.sectors += as_double(distinct_units(warp, bytes, kSectorBytes));
    sum.lines += as_double(distinct_units(warp, bytes, kLineBytes));
    starts = starts.subspan(warp.size());
  }
  return sum;
}

// Of n threads whose pattern repeats every `period` threads, a multiple of the block: thread i
// touches `bytes` at start(i). The lanes of a warp lie in other banks each, as in order.
template <class Start>
Touched of_period(std::int64_t n, std::int64_t period, std::int64_t bytes, const Start& start) {
  Touched sum;
  const auto add_blocks = [&](std::int64_t end, double times) {
    std::array<std::int64_t, kThreads> starts{};
    for (std::int64_t first = 0; first < end; first += kThreads) {
      const auto threads = static_cast<std::size_t>(std::min(kThreads, end - first));
      for (std::size_t i = 0; i < threads; ++i) {
        starts[i] = start(first + static_cast<std::int64_t>(i));
      }
      sum += times * of_block(std::span(starts).first(threads), bytes);
    }
  };
  add_blocks(std::min(n, period), std::max(1.0, as_double(n / period)));
  if (n > period) add_blocks(n % period, 1);
  sum.wavefronts = in_order(n, bytes).wavefronts;
  return sum;
}

using Extents = std::array<std::int64_t, 3>;

// The launch without its arrays. `share`: of all accesses, those of a block in the grid's inside;
// `requested`: by all threads.
Plan plan_of(const compiled::Kernel& kernel, const Extents& blocks, const Extents& threads,
             double share, const Traffic& requested, const Touched& loads, const Touched& stores) {
  Plan plan;
  plan.launch.grid = blocks;
  plan.launch.block = threads;
  plan.launch.registers = kernel.registers;
  const double stored = stores.sectors * kSectorBytes;
  Step step;
  step.issued.requested = share * requested;
  step.issued.l1 = share * Traffic{loads.sectors * kSectorBytes, stored};
  step.issued.l2 = share * Traffic{loads.l2_sectors * kSectorBytes, stored};
  step.warp_instructions = warps_of(plan.launch.threads()) * kernel.straight;
  step.wavefronts.l1 = share * (loads.wavefronts + stores.wavefronts);
  step.wavefronts.l1_lookups = share * (loads.lines + stores.lines);
  step.waits.global = 1;
  set_blocks_with_edge(plan, step, share);
  return plan;
}

// Of so many threads, thread after thread, whose stores have `bytes` each.
Plan plan_of(const compiled::Kernel& kernel, std::int64_t threads, const Traffic& requested,
             const Touched& loads, std::int64_t bytes) {
  return plan_of(kernel, {ceil_div(threads, kThreads), 1, 1}, {kThreads, 1, 1},
                 as_double(kThreads) / as_double(std::max(kThreads, threads)), requested, loads,
                 in_order(threads, bytes));
}

// Blocks that cover `width` columns of `height` rows; loads and stores go the same way.
Plan plan_of(std::string_view kernel, const DenseMatrix& m, std::int64_t width, std::int64_t height,
             const Touched& touched) {
  const auto share = [](std::int64_t part, std::int64_t extent) {
    return std::min(1.0, as_double(part) / as_double(extent));
  };
  const double bytes = as_double(m.rows * m.pitch_bytes());
  Plan plan =
      plan_of(compiled::kernel(kernel, m.element_bytes),
              {ceil_div(m.columns, width), ceil_div(m.rows, height), 1},
              {matrix::kLanes, matrix::kDepth, 1}, share(width, m.columns) * share(height, m.rows),
              {bytes, bytes}, touched, touched);
  plan.arrays = {reads(0, bytes), writes(1, bytes)};
  return plan;
}

DenseMatrix matrix_of(const Problem& p) {
  return {p[matrix::kRows], p[matrix::kColumns], element_bytes(p.dtype)};
}

Touched gather_shuffled(const Problem& p, std::int64_t element) {
  constexpr std::int64_t kMostCounted = 65536;  // elements; of a longer window its first ones
  const std::int64_t window = p[gather::kWindow];
  const auto start = [&](std::int64_t i) {
    const std::int64_t within = i & (window - 1);
    const std::uint64_t place = static_cast<std::uint64_t>(within) * gather::kMultiplier;
    return (i - within + (static_cast<std::int64_t>(place) & (window - 1))) * element;
  };
  return of_period(p[gather::kElements], std::clamp(window, kThreads, kMostCounted), element,
                   start);
}

// Every index anywhere in the table.
Touched gather_uniform(const Problem& p, std::int64_t element) {
  // Expected words in the fullest of 32 banks, for 32 words.
  constexpr double kRandomWavefronts = 3.53;
  const auto of_warp = [&](std::int64_t unit_bytes) {
    const double units = as_double(p[gather::kWindow] * element) / as_double(unit_bytes);
    return expected_distinct(std::max(1.0, units), kWarpLanes);
  };
  const double sectors = of_warp(kSectorBytes), lines = of_warp(kLineBytes);
  return warps_of(p[gather::kElements]) *
         Touched{sectors, sectors, lines, std::min(kRandomWavefronts, lines)};
}

}  // namespace

LaunchSequence plan_strided(const Problem& p, const Gpu& gpu) {
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[strided::kElements], stride = p[strided::kStride];
  const std::int64_t width = p[strided::kWidth];
  require_multiple("n", n, width);
  require_multiple("stride", stride, width);
  if ((width & (width - 1)) != 0 || width * element > 16) {
    throw InputError("width is " + std::to_string(width) +
                     ": give 1, 2, 4 or 8 elements, of at most 16 bytes");
  }
  const std::int64_t accesses = n / width;
  const WarpAccess load{.stride_bytes = stride * element, .access_bytes = width * element};
  const Touched loads = of_warps(load, accesses);
  const double bytes = as_double(n * element);
  Plan plan = plan_of(compiled::kernel("access::strided_kernel", element, width), accesses,
                      {bytes, bytes}, loads, width * element);
  const std::int64_t unit = dram_access_bytes(gpu);
  const double dram = units_of_warps(load, accesses, unit) * as_double(unit);
  const double span = as_double(((accesses - 1) * stride + width) * element);
  plan.arrays = {{0, {bytes, 0}, {dram, 0}, {.read_density = dram / span}}, writes(1, bytes)};
  if (stride > width) {
    const auto waste = [&](double moved) {
      return waste_text("stride " + std::to_string(stride), moved / as_double(accesses),
                        as_double(width * element));
    };
    plan.notes.traffic_reasons = {{Level::l1, waste(loads.sectors * kSectorBytes)},
                                  {Level::dram, waste(dram)}};
  }
  return launch_of(std::move(plan));
}

LaunchSequence plan_offset(const Problem& p, const Gpu& gpu) {
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[offset::kElements], offset = p[offset::kOffset];
  const double bytes = as_double(n * element);
  const Touched loads =
      of_period(n, kThreads, element, [&](std::int64_t i) { return (i + offset) * element; });
  Plan plan = plan_of(compiled::kernel("access::offset_kernel", element), n, {bytes, bytes}, loads,
                      element);
  const std::int64_t unit = dram_access_bytes(gpu);
  const std::int64_t first = offset * element / unit;
  const std::int64_t last = ((offset + n) * element - 1) / unit;
  plan.arrays = {{0, {bytes, 0}, {as_double((last - first + 1) * unit), 0}}, writes(1, bytes)};
  if (offset * element % kSectorBytes != 0) {
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
  if ((window & (window - 1)) != 0) {
    throw InputError("window is " + std::to_string(window) + ": give a power of two");
  }
  const bool uniform = p[gather::kDistribution] == gather::kUniform;
  if (!uniform && n % window != 0) {
    throw InputError("n is " + std::to_string(n) + ": give a multiple of window, " +
                     std::to_string(window));
  }
  const Touched found = uniform ? gather_uniform(p, element) : gather_shuffled(p, element);
  const double elements = as_double(n * element), indices = as_double(n * kIndexBytes);
  Touched loads = in_order(n, kIndexBytes);
  loads += found;
  Plan plan = plan_of(compiled::kernel("access::gather_kernel", element), n,
                      {elements + indices, elements}, loads, element);
  const double table = as_double((uniform ? std::min(window, n) : n) * element);
  plan.arrays = {reads(0, indices), {1, {table, 0}, {}}, writes(2, elements)};
  const auto waste = [&](Level level, double sectors) {
    plan.notes.traffic_reasons.push_back(
        {level, waste_text(uniform ? "uniform gather" : "shuffled gather",
                           sectors * kSectorBytes / as_double(n), as_double(element))});
  };
  waste(Level::l1, found.sectors);
  if (uniform) {
    plan.arrays[1].random =
        RandomReads{.sectors = found.sectors,
                    .table_bytes = as_double(window * element),
                    .streamed_lines = as_double(kIndexBytes) / as_double(kLineBytes)};
    return launch_of(std::move(plan));
  }
  waste(Level::l2, found.l2_sectors);
  const double unit = as_double(dram_access_bytes(gpu));
  plan.arrays[1].footprint = {std::ceil(elements / unit) * unit, 0};
  plan.arrays[1].pattern.lone_sectors =
      found.l2_sectors * std::clamp(2 * found.lines / found.sectors - 1, 0.0, 1.0);
  // The index first.
  plan.blocks.front().phases.front().step.waits.global += found.l2_sectors / found.sectors;
  return launch_of(std::move(plan));
}

LaunchSequence plan_row_wise(const Problem& p, const Gpu& /*gpu*/) {
  const DenseMatrix m = matrix_of(p);
  Touched touched = as_double(m.rows) * in_order(m.columns, m.element_bytes);
  touched.sectors = touched.l2_sectors = sectors_along_rows(m);
  Plan plan = plan_of("access::row_wise_kernel", m, matrix::kLanes, matrix::kDepth, touched);
  plan.arrays.back().pattern.partial_writes = partial_sectors_along_rows(m);
  return launch_of(std::move(plan));
}

LaunchSequence plan_column_wise(const Problem& p, const Gpu& /*gpu*/) {
  const DenseMatrix m = matrix_of(p);
  Touched touched =
      as_double(m.columns) *
      of_warps({.stride_bytes = m.pitch_bytes(), .access_bytes = m.element_bytes}, m.rows);
  touched.sectors = sectors_down_columns(m);
  // Once a block, for a run along each row: the block's other columns find them in L1.
  touched.l2_sectors = sectors_along_rows(m, matrix::kDepth);
  Plan plan = plan_of("access::column_wise_kernel", m, matrix::kDepth, matrix::kLanes, touched);
  plan.arrays.back().pattern.partial_writes = touched.sectors;
  plan.notes.traffic_reasons = {
      {Level::l1, waste_text("lanes a row apart",
                             touched.sectors * kSectorBytes / as_double(m.rows * m.columns),
                             as_double(m.element_bytes))},
      {Level::l2,
       "L1 keeps a sector for the block's neighbouring columns; stores go on as they are"},
      {Level::dram, "L2 puts the pieces of a written sector together"}};
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
