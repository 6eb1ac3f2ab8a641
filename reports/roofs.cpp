#include "reports/roofs.hpp"

#include <utility>

#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast::reports {
namespace {

/// Bytes per second of all SMs, each of which moves `bytes_per_clk`.
std::optional<double> all_sms(const Gpu& gpu, const std::optional<double>& bytes_per_clk,
                              const std::optional<double>& clock_hz) {
  if (!bytes_per_clk || !gpu.sm_count || !clock_hz) return std::nullopt;
  return *bytes_per_clk * static_cast<double>(*gpu.sm_count) * *clock_hz;
}

}  // namespace

std::vector<MemoryRoof> memory_roofs(const Gpu& gpu) {
  const std::optional<double> clock = vector_peak_clock_hz(gpu);
  std::vector<MemoryRoof> roofs;
  const auto add = [&roofs](std::string level, std::optional<double> sheet,
                            std::optional<double> sustained) {
    if (sheet || sustained) roofs.push_back({std::move(level), sheet, sustained});
  };
  const auto& port =
      gpu.sm.shared_bytes_per_clk ? gpu.sm.shared_bytes_per_clk : gpu.sm.l1_bytes_per_clk;
  add("L1 + shared", all_sms(gpu, port, clock), std::nullopt);
  add("L2", clock ? l2_peak_bytes_per_s(gpu, *clock) : std::nullopt,
      gpu.sustained.l2_bandwidth_bytes_per_s);
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
    std::optional<double> tensor;
    std::optional<double> vector;
    const auto tensor_clock = tensor_peak_clock_hz(gpu, type);
    if (tensor_clock) tensor = tensor_peak_flops_per_s(gpu, type, *tensor_clock);
    if (vector_clock) vector = vector_peak_flops_per_s(gpu, type, *vector_clock);
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
