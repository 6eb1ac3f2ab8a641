#include "validation/calibration/curve_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/laws/peaks.hpp"

namespace roofcast::validation {
namespace {

using Peak = std::optional<double>;

/// Peak for the curves of a microbenchmark in this unit whose series begins with `series`.
struct Limit {
  std::string_view microbenchmark;
  std::string_view series;
  std::string_view unit;
  Peak (*peak)(const Gpu&);
  std::string_view what;
};

Peak dram(const Gpu& gpu) {
  return gpu.memory.dram_bandwidth_bytes_per_s;
}
Peak l2(const Gpu& gpu) {
  return l2_peak_bytes_per_s(gpu, gpu.clocks.max_hz);
}
template <DType kType>
Peak multiply_adds(const Gpu& gpu) {
  const Peak flops = gpu.sm.vector_flop_per_clk[kType];
  return flops ? Peak(*flops / 2) : std::nullopt;
}

using G = const Gpu&;
// No limit holds for shared data, where one L2 access answers several SMs, nor for scattered pieces
// of a table that L2 holds in part.
constexpr std::array kLimits = {
    Limit{"clock", "", "Hz", [](G gpu) { return gpu.clocks.max_hz; }, "the highest clock"},
    Limit{"bandwidth", "DRAM", "B/s", dram, "the datasheet's DRAM bandwidth"},
    Limit{"bandwidth", "L2 read, own data", "B/s", l2, "L2 bytes per clk × highest clock"},
    Limit{"in_flight", "", "B/s", dram, "the datasheet's DRAM bandwidth"},
    Limit{"scattered", "DRAM, whole buffer", "B/s", dram, "the datasheet's DRAM bandwidth"},
    Limit{"on_chip", "L1 read", "B/clk", [](G gpu) { return gpu.sm.l1_bytes_per_clk; },
          "L1 bytes per clk of an SM"},
    Limit{"on_chip", "shared read", "B/clk", [](G gpu) { return gpu.sm.shared_bytes_per_clk; },
          "shared-memory bytes per clk of an SM"},
    Limit{"pipes", "fp64 fma", "1/clk", multiply_adds<DType::fp64>, "the datasheet's rate"},
    Limit{"pipes", "fp32 fma", "1/clk", multiply_adds<DType::fp32>, "the datasheet's rate"},
    Limit{"pipes", "fp16 fma", "1/clk", multiply_adds<DType::fp16>, "the datasheet's rate"},
    Limit{"pipes", "bf16 fma", "1/clk", multiply_adds<DType::bf16>, "the datasheet's rate"},
    Limit{"pipes", "exp2", "1/clk", [](G gpu) { return gpu.sm.special_per_clk; },
          "the datasheet's rate"},
    Limit{"issue", "", "instructions/clk", [](G gpu) { return gpu.sm.warp_issue_per_clk; },
          "instructions that an SM issues a clk"}};

/// Why the device cannot have measured this value; nothing if it can.
std::optional<std::string> objection(const Curve& curve, double value, const Gpu& gpu) {
  if (!std::isfinite(value)) return "no number";
  for (const Limit& limit : kLimits) {
    if (curve.microbenchmark != limit.microbenchmark || curve.unit != limit.unit ||
        !curve.series.starts_with(limit.series)) {
      continue;
    }
    const Peak peak = limit.peak(gpu);
    if (peak && value > *peak * (1 + kPeakTolerance)) {
      return fmt::format("more than {}, {:.6g} {}", limit.what, *peak, curve.unit);
    }
  }
  return std::nullopt;
}

}  // namespace

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
