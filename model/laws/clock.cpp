#include "model/laws/clock.hpp"

#include <algorithm>

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

}  // namespace roofcast
