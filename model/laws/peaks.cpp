#include "model/laws/peaks.hpp"

#include <algorithm>

#include "model/counting/integers.hpp"
#include "model/laws/clock.hpp"

namespace roofcast {

std::optional<double> device_rate(const std::optional<double>& per_clk, const Gpu& gpu,
                                  const std::optional<double>& clock_hz) {
  if (!per_clk || !gpu.sm_count || !clock_hz) return std::nullopt;
  return *per_clk * as_double(*gpu.sm_count) * *clock_hz;
}

std::optional<double> fastest_tensor_flops_per_s(const Gpu& gpu, DType type,
                                                 const std::optional<double>& clock_hz) {
  // An absent rate compares less than any other.
  return device_rate(
      std::max(gpu.sm.tensor_fp16_accumulate_flop_per_clk[type], gpu.sm.tensor_flop_per_clk[type]),
      gpu, clock_hz);
}

std::optional<double> l2_peak_bytes_per_s(const Gpu& gpu, const std::optional<double>& clock_hz) {
  if (gpu.memory.l2_bytes_per_clk && clock_hz) return *gpu.memory.l2_bytes_per_clk * *clock_hz;
  return device_rate(gpu.sm.l2_bytes_per_clk, gpu, clock_hz);
}

bool computes_in(const Gpu& gpu, DType type) {
  return gpu.sm.vector_flop_per_clk[type] || gpu.sm.tensor_flop_per_clk[type] ||
         gpu.peak_flops_per_s[type];
}

std::optional<Peak> best_peak(const Gpu& gpu, DType type) {
  std::optional<Peak> best;
  const auto consider = [&best](std::optional<double> rate, bool tensor) {
    if (rate && (!best || *rate > best->flops_per_s)) best = Peak{*rate, tensor};
  };
  const auto clock = limit_clock_hz(gpu);
  consider(device_rate(gpu.sm.vector_flop_per_clk[type], gpu, clock), false);
  consider(fastest_tensor_flops_per_s(gpu, type, clock), true);
  if (!best) consider(gpu.peak_flops_per_s[type], gpu.kind == DeviceKind::tpu);
  return best;
}

}  // namespace roofcast
