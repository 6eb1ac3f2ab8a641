#include "model/laws/occupancy.hpp"

#include <array>
#include <limits>
#include <string_view>

#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// Registers are allocated per warp, in the sub-partition that runs it; the launch check rounds the
// block's warps up to all sub-partitions (cudaOccMaxBlocksPerSMRegsLimit).
std::int64_t blocks_by_registers(std::int64_t warps, const Launch& launch,
                                 const OccupancyRules& rules) {
  if (launch.registers == 0) return kUnlimited;
  const std::int64_t parts = rules.warp_allocation_unit;
  const std::int64_t per_warp =
      round_up(launch.registers * rules.warp_size, rules.register_allocation_unit);
  const bool fits = launch.registers <= rules.registers_per_thread &&
                    per_warp * round_up(warps, parts) <= rules.registers_per_sm;
  if (!fits) return 0;
  return rules.registers_per_sm / parts / per_warp * parts / warps;
}

std::int64_t blocks_by_shared_memory(const Launch& launch, const OccupancyRules& rules) {
  if (launch.shared_bytes > rules.shared_bytes_per_block) return 0;
  const std::int64_t allocated =
      round_up(launch.shared_bytes + rules.shared_reserved_bytes_per_block,
               rules.shared_allocation_unit_bytes);
  return allocated == 0 ? kUnlimited : rules.shared_bytes_per_sm / allocated;
}

void check_clusters(std::int64_t blocks, const Gpu& gpu) {
  if (blocks <= 1) return;
  require(gpu.features.has_clusters(), "the kernel needs clusters of ", blocks, " blocks, and ",
          gpu.name, " has no clusters: choose another variant");
  const std::int64_t most = *gpu.features.cluster_blocks_max;
  require(blocks <= most, "a cluster of ", blocks, " blocks: ", gpu.name, " takes at most ", most);
}

void check_features(const Plan& plan, const Gpu& gpu) {
  for (const Instruction instruction : plan.needs) {
    require(gpu.features.has(instruction), "the kernel needs ", name(instruction), ", which ",
            gpu.name, " does not have: choose another variant");
  }
  constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const auto& most = gpu.features.grid_max[i];
    const std::int64_t blocks = plan.launch.grid[i];
    require(!most || blocks <= *most, "the kernel would launch ", blocks, " blocks along ",
            kAxes[i], ", and ", gpu.name, " takes at most ", most.value_or(0),
            ": choose a smaller problem or larger tiles");
  }
}

}  // namespace

Waves waves(std::int64_t blocks, std::int64_t capacity) {
  const std::int64_t rest = blocks % capacity;
  Waves result;
  result.count = as_double(blocks) / as_double(capacity);
  result.full = blocks / capacity;
  result.tail_utilization = rest == 0 ? 1.0 : as_double(rest) / as_double(capacity);
  result.efficiency = result.count / as_double(ceil_div(blocks, capacity));
  return result;
}

Occupancy occupancy(const Launch& launch, const OccupancyRules& rules) {
  const std::int64_t threads = launch.threads();
  if (threads < 1 || threads > rules.threads_per_block) return {};
  const std::int64_t warps = ceil_div(threads, rules.warp_size);

  Occupancy result{rules.warps_per_sm / warps, 0, OccupancyLimiter::warps};
  const auto lower = [&result](std::int64_t blocks, OccupancyLimiter limiter) {
    if (blocks < result.blocks_per_sm) {
      result.blocks_per_sm = blocks;
      result.limited_by = limiter;
    }
  };
  lower(rules.blocks_per_sm, OccupancyLimiter::blocks);
  lower(blocks_by_registers(warps, launch, rules), OccupancyLimiter::registers);
  lower(blocks_by_shared_memory(launch, rules), OccupancyLimiter::shared_memory);
  result.warps_per_sm = result.blocks_per_sm * warps;
  return result;
}

Occupancy occupancy(const Launch& launch, const Gpu& gpu) {
  check_clusters(launch.cluster_blocks(), gpu);
  const Occupancy found = occupancy(launch, *gpu.occupancy);
  const auto& most = gpu.features.cluster_blocks_per_sm;
  if (!most || launch.cluster_blocks() == 1 || found.blocks_per_sm <= *most) return found;
  return {*most, found.warps_per_sm / found.blocks_per_sm * *most, OccupancyLimiter::clusters};
}

std::int64_t places(const Launch& launch, const Occupancy& occupancy, const Gpu& gpu) {
  const std::int64_t all = gpu.slots(occupancy.blocks_per_sm), cluster = launch.cluster_blocks();
  if (cluster == 1) return all;
  std::int64_t slots = 0, used = 0;
  for (const std::int64_t sms : gpu.features.gpc_sms) {
    slots += sms * occupancy.blocks_per_sm;
    if (sms >= cluster) used += sms * occupancy.blocks_per_sm / cluster * cluster;
  }
  if (slots == 0) return all;  // the GPCs are unknown
  // A what-if of more or fewer SMs scales the GPCs, to the nearest cluster.
  const std::int64_t clusters = (used * all / slots + cluster / 2) / cluster;
  return std::max<std::int64_t>(1, clusters) * cluster;
}

Occupancy checked_occupancy(const Plan& plan, const Gpu& gpu) {
  const Launch& launch = plan.launch;
  check_features(plan, gpu);
  const Occupancy found = occupancy(launch, gpu);
  const OccupancyRules& rules = *gpu.occupancy;
  require(found.blocks_per_sm > 0, "a block of ", launch.threads(), " threads, ", launch.registers,
          " registers a thread and ", launch.shared_bytes,
          " B of shared memory does not fit an SM of ", gpu.name, ", which gives a block ",
          rules.registers_per_sm, " registers, ", rules.registers_per_thread, " a thread, and ",
          rules.shared_bytes_per_block, " B: choose smaller tiles, or fewer threads");
  return found;
}

}  // namespace roofcast
