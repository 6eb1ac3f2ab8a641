#include "model/laws/peaks.hpp"

#include "model/laws/clock.hpp"

namespace roofcast {
namespace {

std::optional<double> device_rate(const std::optional<double>& per_clk, const Gpu& gpu,
                                  double clock_hz) {
  if (!per_clk || !gpu.sm_count) return std::nullopt;
  return *per_clk * static_cast<double>(*gpu.sm_count) * clock_hz;
}

}  // namespace

std::optional<double> vector_peak_flops_per_s(const Gpu& gpu, DType type, double clock_hz) {
  return device_rate(gpu.sm.vector_flop_per_clk[type], gpu, clock_hz);
}

std::optional<double> tensor_peak_flops_per_s(const Gpu& gpu, DType type, double clock_hz) {
  return device_rate(gpu.sm.tensor_flop_per_clk[type], gpu, clock_hz);
}

std::optional<Peak> best_peak(const Gpu& gpu, DType type) {
  std::optional<Peak> best;
  const auto consider = [&best](std::optional<double> rate, bool tensor) {
    if (rate && (!best || *rate > best->flops_per_s)) best = Peak{*rate, tensor};
  };
  if (const auto clock = limit_clock_hz(gpu)) {
    consider(vector_peak_flops_per_s(gpu, type, *clock), false);
    consider(tensor_peak_flops_per_s(gpu, type, *clock), true);
  }
  if (!best) consider(gpu.peak_flops_per_s[type], gpu.kind == DeviceKind::tpu);
  return best;
}

}  // namespace roofcast
