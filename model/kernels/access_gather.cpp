#include <cmath>
#include <string>

#include "model/counting/random_access.hpp"
#include "model/kernels/access_counts.hpp"

namespace roofcast::access {
namespace {

// Beyond this many elements a window is counted by its first ones.
constexpr std::int64_t kMostCounted = 65536;
constexpr std::int64_t kIndexBytes = 4;

struct Gathered {
  BlockLoads loads;
  double dram_pieces = 0;
};

Gathered gather_shuffled(const Problem& p, std::int64_t element, std::int64_t unit) {
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
  return {periodic_loads(p[kElements], period, element, start),
          as_double((p[kElements] * element + unit - 1) / unit)};
}

// Cycles of the data pipe for 32 words in random banks: the expected fullest of 32 bins for 32
// balls.
constexpr double kRandomWavefronts = 3.53;

// What of an SM's pool is left to L1 beside what the blocks reserve.
double l1_lines(const Gpu& gpu) {
  const double reserved = gpu.occupancy
                              ? as_double(gpu.occupancy->shared_reserved_bytes_per_block *
                                          gpu.occupancy->warps_per_sm * kWarpLanes / kThreads)
                              : 0;
  return std::max(0.0, gpu.memory.l1_shared_bytes.value_or(0) - reserved) / kLineBytes;
}

// Every index anywhere in the table. Each SM's L1 holds what it can, and L2 the same for all.
Gathered gather_uniform(const Problem& p, std::int64_t element, std::int64_t unit, const Gpu& gpu) {
  using gather::kElements;
  using gather::kWindow;
  const double table = as_double(p[kWindow] * element);
  const double warps = warps_of(p[kElements]);
  const auto in_table = [&](std::int64_t bytes) { return std::max(1.0, table / as_double(bytes)); };
  Gathered found;
  found.loads.l1_sectors = warps * expected_distinct(in_table(kSectorBytes), kWarpLanes);
  found.loads.lines = warps * expected_distinct(in_table(kLineBytes), kWarpLanes);
  found.loads.wavefronts =
      warps * std::min(kRandomWavefronts, expected_distinct(in_table(kLineBytes), kWarpLanes));
  const double sms = as_double(gpu.sm_count.value_or(1));
  const double indices_a_line = kLineBytes / kIndexBytes;
  const double hits =
      sector_hit_share(in_table(kLineBytes), 1 / indices_a_line, {.lines = l1_lines(gpu)});
  const double fetched_once =
      sms * expected_distinct(in_table(kSectorBytes), found.loads.l1_sectors / sms);
  found.loads.l2_sectors = std::max(fetched_once, (1 - hits) * found.loads.l1_sectors);
  const double l2_bytes = gpu.sustained.l2_resident_bytes.value_or(gpu.memory.l2_bytes.value_or(0));
  found.dram_pieces =
      random_misses(found.loads.l2_sectors, in_table(unit), l2_bytes / as_double(unit));
  return found;
}

}  // namespace

Plans plan_gather(const Problem& p, const Gpu& gpu) {
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
  const std::int64_t unit = dram_access_bytes(gpu);
  const Gathered found =
      uniform ? gather_uniform(p, element, unit, gpu) : gather_shuffled(p, element, unit);
  const double elements = as_double(n * element);
  const double indices = as_double(n * kIndexBytes);
  const double table = as_double((uniform ? std::min(window, n) : n) * element);

  const WarpAccess index{.stride_bytes = kIndexBytes, .access_bytes = kIndexBytes};
  const WarpAccess store{.stride_bytes = element, .access_bytes = element};
  Counts counts;
  counts.l1_load_sectors = found.loads.l1_sectors + sectors_in_order(n, kIndexBytes);
  counts.l2_load_sectors = found.loads.l2_sectors + sectors_in_order(n, kIndexBytes);
  counts.store_sectors = sectors_in_order(n, element);
  counts.lookups = found.loads.lines + units_of_warps(index, n, kLineBytes) +
                   units_of_warps(store, n, kLineBytes);
  counts.wavefronts = 2 * warps_of(n) + found.loads.wavefronts;
  Work work;
  work.requested = {elements + indices, elements};
  work.compulsory = {table + indices, elements};
  work.dram_footprint = {found.dram_pieces * as_double(unit) + indices, elements};
  Plan plan = one_access_a_thread(n, work, counts);
  plan.launch.registers = element == 4 ? 10 : 12;
  const double beyond_l1 = std::min(1.0, found.loads.l2_sectors / found.loads.l1_sectors);
  plan.block.once.global_round_trips = 1 + beyond_l1;  // the index first
  if (uniform) {  // no two neighbours at the same time, but for the indices
    const double random = found.dram_pieces * as_double(unit);
    plan.scatter.read_density = 1 - std::cbrt(random / (random + indices));
  }
  const std::string pattern =
      std::string(kDistributions[static_cast<std::size_t>(p[kDistribution])]) + " gather";
  const auto used = as_double(element);
  plan.traffic_reasons = {
      {Level::l1, waste_text(pattern, found.loads.l1_sectors * kSectorBytes / as_double(n), used)},
      {Level::l2, waste_text(pattern, found.loads.l2_sectors * kSectorBytes / as_double(n), used)},
      {Level::dram, waste_text(pattern, found.dram_pieces * as_double(unit) / as_double(n), used)}};
  return {plan};
}

}  // namespace roofcast::access
