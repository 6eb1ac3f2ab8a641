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

std::optional<double> expected_clock_hz(const Gpu& gpu, bool on_tensor_cores,
                                        const Assumptions& assumptions) {
  if (assumptions.sm_clock_hz) return assumptions.sm_clock_hz;
  const auto hz = gpu.sustained.sm_clock_hz ? gpu.sustained.sm_clock_hz : vector_peak_clock_hz(gpu);
  const auto tensor =
      gpu.sustained.tensor_clock_hz ? gpu.sustained.tensor_clock_hz : gpu.clocks.tensor_boost_hz;
  if (!hz) return std::nullopt;
  const double full_hz = on_tensor_cores && tensor ? std::min(*hz, *tensor) : *hz;
  return full_hz / (1 + assumptions.clock_slowdown);
}

Energy energy_of(const WorkDone& work, const Gpu& gpu) {
  const auto& flop_j = gpu.sustained.vector_flop_energy_j;
  if (!flop_j) return {};
  constexpr double kFlopsOfAnFma = 64;  // of a warp
  const auto& per_clk = gpu.sm.tensor_flop_per_clk;
  const double tensor_flops =
      work.tensor_clk * per_clk[per_clk[DType::bf16] ? DType::bf16 : DType::fp16].value_or(0);
  const double tensor_flop_j =
      gpu.sustained.tensor_flop_energy_j.value_or(law::kTensorEnergyShare * *flop_j);
  return {.sms_j = *flop_j * kFlopsOfAnFma * work.warp_instructions + tensor_flop_j * tensor_flops,
          .dram_j = law::kDramByteEnergy * work.dram_bytes};
}

namespace {

bool is_over_limit(double power_w, const Gpu& gpu) {
  return gpu.power_w && power_w > *gpu.power_w;
}

// Relative slowdown at `power_w`, over the limit; the square-root part counts by `share`.
double slowdown(double power_w, double share, const Gpu& gpu) {
  const double over = power_w / *gpu.power_w;
  const double by_voltage = std::sqrt(std::min<double>(over, law::kLeastVoltagePower)) - 1;
  return (1 + share * by_voltage) * std::max(1.0, over / law::kLeastVoltagePower) - 1;
}

}  // namespace

double launch_slowdown(double power_w, double time_s, const Gpu& gpu) {
  if (!is_over_limit(power_w, gpu)) return 0;
  constexpr double kNone_s = 1e-6;
  const double decades = std::log10(std::max(time_s / kNone_s, 1.0));
  return slowdown(power_w, std::min(1.0, law::kSlowdownOfADecade * decades), gpu);
}

double long_run_slowdown(double power_w, double worked_s, const Gpu& gpu) {
  if (worked_s <= 0 || !is_over_limit(power_w, gpu)) return 0;
  return slowdown(power_w, 1, gpu) / (1 + law::kHeatingSeconds / worked_s);
}

}  // namespace roofcast
