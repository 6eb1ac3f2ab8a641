// A program that knows the installed roofcast alone: describes a device and asks for a forecast.
#include <cstdio>

#include "model/roofcast.hpp"

int main() {
  roofcast::Gpu gpu;
  gpu.name = "example";
  gpu.title = "A device described in code";
  gpu.sm_count = 100;
  gpu.clocks.vector_boost_hz = 1.5e9;
  gpu.clocks.tensor_boost_hz = 1.5e9;
  gpu.clocks.max_hz = 1.5e9;
  gpu.sm.vector_flop_per_clk[roofcast::DType::fp32] = 256;
  gpu.memory.dram_bandwidth_bytes_per_s = 2e12;

  const roofcast::Found gemm = roofcast::find_kernel("gemm");
  roofcast::Problem problem{.dtype = roofcast::DType::fp32, .values = {4096, 4096, 4096}};
  roofcast::check(gemm, problem, 0b111);
  const roofcast::Prediction prediction = roofcast::predict(gemm, problem, gpu);

  // 2·4096³ FLOP at 100 SMs × 256 FLOP/clk × 1.5 GHz.
  const double expected_s = 2.0 * 4096 * 4096 * 4096 / (100 * 256 * 1.5e9);
  const double ratio = prediction.limit.time_s / expected_s;
  std::printf("limit %.6f s, by hand %.6f s\n", prediction.limit.time_s, expected_s);
  return ratio > 0.999 && ratio < 1.001 ? 0 : 1;
}
