#include "model/laws/clock.hpp"

#include <algorithm>
#include <cmath>

#include "model/constants/laws.hpp"

namespace roofcast {

std::optional<double> limit_clock_hz(const Gpu& gpu) {
  if (gpu.clocks.max_hz) return gpu.clocks.max_hz;
  return gpu.clocks.vector_boost_hz ? gpu.clocks.vector_boost_hz : gpu.clocks.tensor_boost_hz;
}

std::optional<double> vector_peak_clock_hz(const Gpu& gpu) {
  return gpu.clocks.vector_boost_hz ? gpu.clocks.vector_boost_hz : limit_clock_hz(gpu);
}

std::optional<double> tensor_peak_clock_hz(const Gpu& gpu, DType type) {
  if (type == DType::fp64 && gpu.clocks.tensor_fp64_boost_hz) {
    return gpu.clocks.tensor_fp64_boost_hz;
  }
  return gpu.clocks.tensor_boost_hz ? gpu.clocks.tensor_boost_hz : limit_clock_hz(gpu);
}

std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores) {
  const auto hz = gpu.sustained.sm_clock_hz ? gpu.sustained.sm_clock_hz : vector_peak_clock_hz(gpu);
  const auto tensor =
      gpu.sustained.tensor_clock_hz ? gpu.sustained.tensor_clock_hz : gpu.clocks.tensor_boost_hz;
  return on_tensor_cores && hz && tensor ? std::min(*hz, *tensor) : hz;
}

double tensor_power_slowdown(double busy_share, double time_s, double worked_s, const Gpu& gpu) {
  const auto& free = gpu.sustained.power_free_share;
  const auto& slowdown = gpu.sustained.power_slowdown;
  if (!free || !slowdown || *free >= 1 || busy_share <= *free) return 0;
  constexpr double kNoLonger_s = 1e-6;
  const double heated_s = std::max(time_s, std::min<double>(worked_s, law::kHeatingSeconds));
  const double decades = std::max(0.0, std::log10(heated_s / kNoLonger_s));
  // At the full clock, tensor cores that are busy for `free` of the time take 1 ÷ free times as
  // long: no slowdown exceeds that.
  const double most = (1 - *free) / *free;
  return std::min(*slowdown * decades, most) * std::min((busy_share - *free) / (1 - *free), 1.0);
}

double board_power_slowdown(const Plan& plan, double time_s, const Gpu& gpu) {
  const auto& fp32_flop_j = gpu.sustained.vector_flop_energy_j;
  if (!fp32_flop_j || !gpu.power_w || time_s <= 0) return 0;
  const auto of_fp32 = [](DType type) { return size_bytes(type) / size_bytes(DType::fp32); };
  double fp32_flops = plan.useful.vector_flops * of_fp32(plan.compute);
  for (const DType type : kAllDTypes) {
    fp32_flops += law::kTensorEnergyShare * plan.useful.tensor_flops[type] * of_fp32(type);
  }
  return std::max(0.0, fp32_flops * *fp32_flop_j / (*gpu.power_w * time_s) - 1);
}

}  // namespace roofcast
