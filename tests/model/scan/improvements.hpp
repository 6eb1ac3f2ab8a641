#pragma once
// Changes of a device's specification that can only help, one for each value that a law reads.
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/model/scan/questions.hpp"

namespace roofcast::testing {

/// A change of the specification that can only help.
struct Improvement {
  const char* key;
  double factor;
};

inline constexpr Improvement kImprovements[] = {
    {"memory/dram_bandwidth_bytes_per_s", 1.3},
    {"memory/l2_bytes", 1.5},
    {"latency/fma_cycles", 0.7},
    {"latency/shared_cycles", 0.7},
    {"latency/l1_cycles", 0.7},
    {"latency/l2_cycles", 0.7},
    {"latency/dram_cycles", 0.7},
    {"sm/special_per_clk", 1.5},
    {"sm/conversion_per_clk", 1.5},
    {"sm/warp_issue_per_clk", 1.5},
    {"sm/l2_bytes_per_clk", 1.5},
    {"sm/shared_bytes_per_clk", 1.5},
    {"sm/l1_bytes_per_clk", 1.5},
    {"sustained/dram_read_bytes_per_s", 1.05},
    {"sustained/dram_write_bytes_per_s", 1.05},
    {"sustained/dram_scattered_bytes_per_s", 1.05},
    {"sustained/l2_bandwidth_bytes_per_s", 1.3},
    {"sustained/sm_clock_hz", 1.05},
    {"sustained/tensor_clock_hz", 1.05},
    {"sustained/fma_latency_cycles", 0.7},
    {"sustained/shared_latency_cycles", 0.7},
    {"sustained/l1_latency_cycles", 0.7},
    {"sustained/l2_latency_cycles", 0.7},
    {"sustained/dram_latency_cycles", 0.7},
    {"sustained/barrier_cycles", 0.7},
    {"sustained/warp_launch_cycles", 0.7},
    {"sustained/block_launch_cycles", 0.7},
    {"sustained/vector_flop_energy_j", 0.7},
    {"sustained/tensor_flop_energy_j", 0.7},
    {"sustained/stream_launch_s", 0.7},
    {"sustained/graph_launch_s", 0.7},
    {"sustained/launch_gap_s", 0.7},
    {"sustained/host_submit_s", 0.7},
    {"sustained/first_access_s", 0.7},
};

/// The value of the device at that place, by the listing of `roofcast gpus NAME`.
inline std::optional<double> value_at(const specs::Embedded& one, const std::string& pointer) {
  static std::map<std::string_view, std::map<std::string, double>> listed;
  auto& values = listed[one.name];
  if (values.empty()) {
    for (const specs::SourcedValue& value :
         specs::values_with_sources(specs::shipped_source(one))) {
      if (std::isdigit(static_cast<unsigned char>(value.value.front())) != 0) {
        values[value.pointer] = std::stod(value.value);
      }
    }
  }
  const auto found = values.find(pointer);
  return found != values.end() ? std::optional(found->second) : std::nullopt;
}

inline std::optional<Gpu> improved(const specs::Embedded& one,
                                   const std::vector<Improvement>& changes) {
  std::vector<specs::Override> overrides;
  for (const Improvement& change : changes) {
    const auto value = value_at(one, "/" + std::string(change.key));
    if (!value) continue;
    double better = *value * change.factor;
    if (change.factor > 1 && *value == std::floor(*value)) better = std::ceil(better);  // a count
    char number[32];
    std::snprintf(number, sizeof number, "%.17g", better);
    overrides.push_back({change.key, number});
  }
  if (overrides.empty()) return std::nullopt;
  return shipped_gpu(one, overrides);
}

}  // namespace roofcast::testing
