#include "model/laws/clock.hpp"

namespace roofcast {

std::optional<double> limit_clock_hz(const Gpu& gpu) {
  if (gpu.clocks.max_hz) return gpu.clocks.max_hz;
  return gpu.clocks.vector_boost_hz ? gpu.clocks.vector_boost_hz : gpu.clocks.tensor_boost_hz;
}

std::optional<double> expected_clock_hz(const Gpu& gpu) {
  if (gpu.sustained.sm_clock_hz) return gpu.sustained.sm_clock_hz;
  return gpu.clocks.vector_boost_hz ? gpu.clocks.vector_boost_hz : limit_clock_hz(gpu);
}

}  // namespace roofcast
