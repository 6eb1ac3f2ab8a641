#include "model/laws/feasibility.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/laws/occupancy.hpp"

namespace roofcast {
namespace {

void check_instructions(const Plan& plan, const Gpu& gpu) {
  for (const Instruction instruction : plan.needs) {
    if (gpu.features.has(instruction)) continue;
    throw InputError("the kernel needs " + std::string(name(instruction)) + ", which " + gpu.name +
                     " does not have: choose another variant");
  }
}

void check_cluster(const Launch& launch, const Gpu& gpu) {
  const std::int64_t blocks = launch.cluster_blocks();
  if (blocks == 1) return;
  if (!gpu.features.has_clusters()) {
    throw InputError("the kernel needs clusters of " + std::to_string(blocks) + " blocks, and " +
                     gpu.name + " has no clusters: choose another variant");
  }
  if (blocks > *gpu.features.cluster_blocks_max) {
    throw InputError("a cluster of " + std::to_string(blocks) + " blocks: " + gpu.name +
                     " takes at most " + std::to_string(*gpu.features.cluster_blocks_max));
  }
}

void check_grid(const Launch& launch, const Gpu& gpu) {
  constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
  for (std::size_t i = 0; i < kAxes.size(); ++i) {
    const auto& most = gpu.features.grid_max[i];
    if (!most || launch.grid[i] <= *most) continue;
    throw InputError("the kernel would launch " + std::to_string(launch.grid[i]) +
                     " blocks along " + kAxes[i] + ", and " + gpu.name + " takes at most " +
                     std::to_string(*most) + ": choose a smaller problem or larger tiles");
  }
}

Occupancy limited_by_clusters(Occupancy found, const Launch& launch, const Gpu& gpu) {
  const auto& most = gpu.features.cluster_blocks_per_sm;
  if (!most || launch.cluster_blocks() == 1 || found.blocks_per_sm <= *most) return found;
  return {*most, found.warps_per_sm / found.blocks_per_sm * *most, OccupancyLimiter::clusters};
}

}  // namespace

Occupancy checked_occupancy(const Plan& plan, const Gpu& gpu) {
  const Launch& launch = plan.launch;
  check_instructions(plan, gpu);
  check_cluster(launch, gpu);
  check_grid(launch, gpu);
  const Occupancy found = limited_by_clusters(occupancy(launch, *gpu.occupancy), launch, gpu);
  if (found.blocks_per_sm > 0) return found;
  throw InputError("a block of " + std::to_string(launch.threads()) + " threads, " +
                   std::to_string(launch.registers) + " registers a thread and " +
                   std::to_string(launch.shared_bytes) +
                   " B of shared memory does not fit an SM of " + gpu.name +
                   ", which gives a block " + std::to_string(gpu.occupancy->registers_per_sm) +
                   " registers, " + std::to_string(gpu.occupancy->registers_per_thread) +
                   " a thread, and " + std::to_string(gpu.occupancy->shared_bytes_per_block) +
                   " B: choose smaller tiles, or fewer threads");
}

double memory_bytes(std::span<const Launched> launches) {
  std::vector<double> arrays;  // their bytes, by number
  for (const Launched& node : launches) {
    for (const ArrayUse& use : node.plan.arrays) {
      const auto array = static_cast<std::size_t>(use.array);
      if (array >= arrays.size()) arrays.resize(array + 1);
      arrays[array] = std::max({arrays[array], use.footprint.read_bytes, use.footprint.write_bytes,
                                use.compulsory.read_bytes});
    }
  }
  return std::accumulate(arrays.begin(), arrays.end(), 0.0);
}

std::optional<std::string> memory_note(const LaunchSequence& program, const Gpu& gpu) {
  if (!gpu.memory.dram_bytes || memory_bytes(program) <= *gpu.memory.dram_bytes) {
    return std::nullopt;
  }
  return "the arrays are larger than the " + gpu.name + "'s memory: they do not fit all at once";
}

}  // namespace roofcast
