#pragma once
// The metrics of Nsight Compute that are read, by their names on its raw and details pages.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/types/dtype.hpp"

namespace roofcast::validation {

enum class Metric : unsigned char {
  time,
  registers,
  shared_bytes,
  static_shared_bytes,
  dynamic_shared_bytes,
  waves,
  achieved_occupancy,
  sm_clock,
  tensor_busy,
  dram_busy,
  warp_instructions,
  dram_read_bytes,
  dram_write_bytes,
  dram_bytes,
  dram_read_rate,
  dram_write_rate,
  dram_rate,
  l2_read_sectors,
  l2_write_sectors,
  grid_x,
  grid_y,
  grid_z,
  block_x,
  block_y,
  block_z,
  blocks,
  threads,
};
inline constexpr std::size_t kMetrics = 27;

/// A counter of arithmetic: FLOPs per count, and whether counts are per SM cycle.
struct FlopsMetric {
  std::string counter;  ///< metrics with the same counter count the same operations
  DType type = DType::fp32;
  double flops = 1;
  bool tensor = false;
  bool per_cycle = false;
};

std::optional<Metric> metric_named(std::string_view name, std::string_view unit);
std::optional<FlopsMetric> flops_metric_named(std::string_view name);

}  // namespace roofcast::validation
