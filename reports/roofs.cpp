#include "reports/roofs.hpp"

#include <utility>

#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast::reports {

std::vector<MemoryRoof> memory_roofs(const Gpu& gpu) {
  const std::optional<double> clock = vector_peak_clock_hz(gpu);
  std::vector<MemoryRoof> roofs;
  const auto add = [&roofs](std::string level, std::optional<double> sheet,
                            std::optional<double> sustained) {
    if (sheet || sustained) roofs.push_back({std::move(level), sheet, sustained});
  };
  const auto& port =
      gpu.sm.shared_bytes_per_clk ? gpu.sm.shared_bytes_per_clk : gpu.sm.l1_bytes_per_clk;
  add("L1 + shared", device_rate(port, gpu, clock), std::nullopt);
  add("L2", l2_peak_bytes_per_s(gpu, clock), gpu.sustained.l2_bandwidth_bytes_per_s);
  add("DRAM", gpu.memory.dram_bandwidth_bytes_per_s, gpu.sustained.dram_read_bytes_per_s);
  std::stable_sort(roofs.begin(), roofs.end(), [](const MemoryRoof& a, const MemoryRoof& b) {
    return a.highest() > b.highest();
  });
  return roofs;
}

std::vector<ComputeRoof> compute_roofs(const Gpu& gpu) {
  // Each peak is at the clock at which datasheets quote it, so that roofs show the datasheet's
  // number.
  const auto vector_clock = vector_peak_clock_hz(gpu);
  std::vector<ComputeRoof> roofs;
  for (const DType type : kAllDTypes) {
    const auto tensor =
        device_rate(gpu.sm.tensor_flop_per_clk[type], gpu, tensor_peak_clock_hz(gpu, type));
    const auto vector = device_rate(gpu.sm.vector_flop_per_clk[type], gpu, vector_clock);
    if (tensor) roofs.push_back({"tensor", type, *tensor});
    if (vector) roofs.push_back({"vector", type, *vector});
    if (!tensor && !vector && gpu.peak_flops_per_s[type]) {
      roofs.push_back(
          {gpu.kind == DeviceKind::tpu ? "matrix" : "peak", type, *gpu.peak_flops_per_s[type]});
    }
  }
  std::stable_sort(roofs.begin(), roofs.end(), [](const ComputeRoof& a, const ComputeRoof& b) {
    return a.flops_per_s > b.flops_per_s;
  });
  return roofs;
}

bool same_roofs(const Gpu& a, const Gpu& b) {
  return memory_roofs(a) == memory_roofs(b) && compute_roofs(a) == compute_roofs(b);
}

}  // namespace roofcast::reports
