#pragma once
#include <optional>

#include "model/types/gpu.hpp"

namespace roofcast {

/// FLOP/s of the whole device on one kind of pipe at that SM clock; absent where it has none.
std::optional<double> vector_peak_flops_per_s(const Gpu& gpu, DType type, double clock_hz);
std::optional<double> tensor_peak_flops_per_s(const Gpu& gpu, DType type, double clock_hz);

/// The fastest way the device has to compute in that type, at its highest clock.
struct Peak {
  double flops_per_s;
  bool tensor;
};
std::optional<Peak> best_peak(const Gpu& gpu, DType type);

}  // namespace roofcast
