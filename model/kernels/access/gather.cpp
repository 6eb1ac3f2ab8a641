#include <algorithm>
#include <cmath>
#include <string>

#include "model/kernels/access/counts.hpp"

namespace roofcast::access {
namespace {

// Beyond this many elements a window is counted by its first ones.
constexpr std::int64_t kMostCounted = 65536;
constexpr std::int64_t kIndexBytes = 4;

BlockLoads gather_shuffled(const Problem& p, std::int64_t element) {
  using gather::kElements;
  using gather::kMultiplier;
  using gather::kWindow;
  const std::int64_t window = p[kWindow];
  const std::int64_t period = std::clamp(window, kThreads, kMostCounted);
  const auto mask = static_cast<std::uint64_t>(window - 1);
  const auto start = [&](std::int64_t i) {
    const std::int64_t within = i & (window - 1);
    const auto place = static_cast<std::uint64_t>(within) * kMultiplier;
    return (i - within + static_cast<std::int64_t>(place & mask)) * element;
  };
  return periodic_loads(p[kElements], period, element, start);
}

// Cycles of the data pipe for 32 words in random banks: the expected fullest of 32 bins for 32
// balls.
constexpr double kRandomWavefronts = 3.53;

// Every index anywhere in the table.
BlockLoads gather_uniform(const Problem& p, std::int64_t element) {
  using gather::kElements;
  using gather::kWindow;
  const double table = as_double(p[kWindow] * element);
  const double warps = warps_of(p[kElements]);
  const auto in_table = [&](std::int64_t bytes) { return std::max(1.0, table / as_double(bytes)); };
  BlockLoads loads;
  loads.l1_sectors = loads.l2_sectors =
      warps * expected_distinct(in_table(kSectorBytes), kWarpLanes);
  loads.lines = warps * expected_distinct(in_table(kLineBytes), kWarpLanes);
  loads.wavefronts =
      warps * std::min(kRandomWavefronts, expected_distinct(in_table(kLineBytes), kWarpLanes));
  return loads;
}

}  // namespace

LaunchSequence plan_gather(const Problem& p, const Gpu& gpu) {
  using gather::kDistribution;
  using gather::kDistributions;
  using gather::kElements;
  using gather::kUniform;
  using gather::kWindow;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[kElements];
  const std::int64_t window = p[kWindow];
  if ((window & (window - 1)) != 0) {
    throw InputError("window is " + std::to_string(window) + ": give a power of two");
  }
  const bool uniform = p[kDistribution] == kUniform;
  if (!uniform && n % window != 0) {
    throw InputError("n is " + std::to_string(n) + ": give a multiple of window, " +
                     std::to_string(window));
  }
  const BlockLoads found = uniform ? gather_uniform(p, element) : gather_shuffled(p, element);
  const double elements = as_double(n * element);
  const double indices = as_double(n * kIndexBytes);
  const double table = as_double((uniform ? std::min(window, n) : n) * element);

  const WarpAccess index{.stride_bytes = kIndexBytes, .access_bytes = kIndexBytes};
  const WarpAccess store{.stride_bytes = element, .access_bytes = element};
  const compiled::Kernel kernel = compiled::kernel("access::gather_kernel", element);
  Counts counts{.warp_instructions = kernel.straight};
  counts.l1_load_sectors = found.l1_sectors + sectors_in_order(n, kIndexBytes);
  counts.l2_load_sectors = found.l2_sectors + sectors_in_order(n, kIndexBytes);
  counts.store_sectors = sectors_in_order(n, element);
  counts.lookups =
      found.lines + units_of_warps(index, n, kLineBytes) + units_of_warps(store, n, kLineBytes);
  counts.wavefronts = 2 * warps_of(n) + found.wavefronts;
  Plan plan = one_access_a_thread(n, {elements + indices, elements}, counts);
  plan.launch.registers = kernel.registers;
  plan.arrays = {reads(0, indices), {1, {table, 0}, {}}, writes(2, elements)};
  const std::string pattern =
      std::string(kDistributions[static_cast<std::size_t>(p[kDistribution])]) + " gather";
  const auto used = as_double(element);
  plan.notes.traffic_reasons.push_back(
      {Level::l1, waste_text(pattern, found.l1_sectors * kSectorBytes / as_double(n), used)});
  Step& step = plan.blocks.front().phases.front().step;
  if (uniform) {
    constexpr double kIndicesOfLine = as_double(kLineBytes / kIndexBytes);
    plan.arrays[1].random = RandomReads{.sectors = found.l1_sectors,
                                        .table_bytes = as_double(window * element),
                                        .streamed_lines = 1 / kIndicesOfLine};
    return launch_of(std::move(plan));
  }
  const double unit = as_double(dram_access_bytes(gpu));
  plan.arrays[1].footprint = {std::ceil(elements / unit) * unit, 0};
  step.waits.global += found.l2_sectors / found.l1_sectors;  // the index first
  plan.notes.traffic_reasons.push_back(
      {Level::l2, waste_text(pattern, found.l2_sectors * kSectorBytes / as_double(n), used)});
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
