#pragma once
#include <optional>

#include "model/types/gpu.hpp"

namespace roofcast {

/// Rate per second of all SMs at that clock, for `per_clk` (of SmRates) per SM and clock. Absent
/// where one of the three is unknown.
std::optional<double> device_rate(const std::optional<double>& per_clk, const Gpu& gpu,
                                  const std::optional<double>& clock_hz);

/// Peak FLOP/s of the tensor cores with the fastest accumulation type: no kernel exceeds it.
std::optional<double> fastest_tensor_flops_per_s(const Gpu& gpu, DType type,
                                                 const std::optional<double>& clock_hz);

/// Peak read bandwidth of L2, B/s: the device's where known, else the sum of the SMs' ports.
std::optional<double> l2_peak_bytes_per_s(const Gpu& gpu, const std::optional<double>& clock_hz);

/// Whether the device has arithmetic in that type. Without (bf16 before Ampere) the compiler
/// emulates it with integer instructions that no plan counts.
bool computes_in(const Gpu& gpu, DType type);

/// The device's fastest pipe for that type, at its highest clock.
struct Peak {
  double flops_per_s;
  bool tensor;
};
std::optional<Peak> best_peak(const Gpu& gpu, DType type);

}  // namespace roofcast
