#include "validation/comparison/device_match.hpp"

#include <cmath>

namespace roofcast::validation {

const Gpu* match_device(const DeviceFacts& facts, std::span<const Gpu> specifications) {
  constexpr double kMemoryTolerance = 0.15;
  const Gpu* best = nullptr;
  double best_distance = kMemoryTolerance;
  for (const Gpu& gpu : specifications) {
    if (!gpu.compute_capability || text(*gpu.compute_capability) != facts.compute_capability ||
        gpu.sm_count != facts.sm_count || !gpu.memory.dram_bytes) {
      continue;
    }
    const double distance = std::abs(facts.dram_bytes / *gpu.memory.dram_bytes - 1);
    if (distance <= best_distance) {
      best = &gpu;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace roofcast::validation
