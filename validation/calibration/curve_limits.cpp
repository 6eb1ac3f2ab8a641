#include "validation/calibration/curve_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/laws/peaks.hpp"

namespace roofcast::validation {
namespace {

/// Peak for the curves of a microbenchmark in this unit whose series begins with `series`.
struct Limit {
  std::string_view microbenchmark;
  std::string_view series;
  std::string_view unit;
  Peak (*peak)(const Gpu&);
};

template <DType kType>
Peak multiply_adds(const Gpu& gpu) {
  const auto& flops = gpu.sm.vector_flop_per_clk[kType];
  return pipe_peak(flops ? std::optional(*flops / 2) : std::nullopt);
}

using G = const Gpu&;
// No limit holds for shared data, where one L2 access answers several SMs, nor for scattered pieces
// of a table that L2 holds in part.
constexpr std::array kLimits = {
    Limit{"clock", "", "Hz", clock_peak},
    Limit{"bandwidth", "DRAM", "B/s", dram_peak},
    Limit{"bandwidth", "L2 read, own data", "B/s", l2_peak},
    Limit{"in_flight", "", "B/s", dram_peak},
    Limit{"scattered", "DRAM, whole buffer", "B/s", dram_peak},
    Limit{"on_chip", "L1 read", "B/clk",
          [](G gpu) {
            return Peak{gpu.sm.l1_bytes_per_clk, "L1 bytes per clk of an SM"};
          }},
    Limit{"on_chip", "shared read", "B/clk",
          [](G gpu) {
            return Peak{gpu.sm.shared_bytes_per_clk, "shared-memory bytes per clk of an SM"};
          }},
    Limit{"pipes", "fp64 fma", "1/clk", multiply_adds<DType::fp64>},
    Limit{"pipes", "fp32 fma", "1/clk", multiply_adds<DType::fp32>},
    Limit{"pipes", "fp16 fma", "1/clk", multiply_adds<DType::fp16>},
    Limit{"pipes", "bf16 fma", "1/clk", multiply_adds<DType::bf16>},
    Limit{"pipes", "exp2", "1/clk", [](G gpu) { return pipe_peak(gpu.sm.special_per_clk); }},
    Limit{"issue", "", "instructions/clk", [](G gpu) {
            return Peak{gpu.sm.warp_issue_per_clk, "instructions that an SM issues a clk"};
          }}};

/// Why the device cannot have measured this value; nothing if it can.
std::optional<std::string> objection(const Curve& curve, double value, const Gpu& gpu) {
  if (!std::isfinite(value)) return "no number";
  for (const Limit& limit : kLimits) {
    if (curve.microbenchmark != limit.microbenchmark || curve.unit != limit.unit ||
        !curve.series.starts_with(limit.series)) {
      continue;
    }
    const Peak peak = limit.peak(gpu);
    if (peak.is_exceeded_by(value)) {
      return fmt::format("more than {}, {:.6g} {}", peak.what, *peak.value, curve.unit);
    }
  }
  return std::nullopt;
}

}  // namespace

Peak dram_peak(const Gpu& gpu) {
  return {gpu.memory.dram_bandwidth_bytes_per_s, "the datasheet's DRAM bandwidth"};
}
Peak l2_peak(const Gpu& gpu) {
  return {l2_peak_bytes_per_s(gpu, gpu.clocks.max_hz), "L2 bytes per clk × highest clock"};
}
Peak clock_peak(const Gpu& gpu) {
  return {gpu.clocks.max_hz, "the highest clock"};
}
Peak pipe_peak(const std::optional<double>& rate) {
  return {rate, "the datasheet's rate"};
}

void refuse_impossible(Measurements& measurements, const Gpu& gpu) {
  for (Curve& curve : measurements.curves) {
    std::erase_if(curve.points, [&](const CurvePoint& point) {
      const auto why = objection(curve, point.value, gpu);
      if (why) measurements.refused.push_back({curve, point, *why});
      return why.has_value();
    });
  }
  for (RefusedValue& one : measurements.refused) one.curve.points.clear();
  std::erase_if(measurements.curves, [](const Curve& curve) { return curve.points.empty(); });
}

}  // namespace roofcast::validation
