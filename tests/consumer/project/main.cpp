// A program that knows the installed roofcast alone: asks for a forecast on a shipped device and on
// one described in code.
#include <cstdio>

#include "hw_specs/loader.hpp"
#include "model/roofcast.hpp"

namespace {

roofcast::Gpu shipped() {
  const roofcast::specs::Embedded* h200 = roofcast::specs::find_embedded("h200-sxm");
  return roofcast::specs::load({.file = std::string(h200->name),
                                .text = std::string(h200->text),
                                .overlay_file = "calibration",
                                .overlay_text = std::string(h200->overlay_text),
                                .overrides = {}});
}

roofcast::Gpu described() {
  roofcast::Gpu gpu;
  gpu.name = "example";
  gpu.sm_count = 100;
  gpu.clocks.max_hz = 1.5e9;
  gpu.sm.vector_flop_per_clk[roofcast::DType::fp32] = 256;
  gpu.memory.dram_bandwidth_bytes_per_s = 2e12;
  return gpu;
}

roofcast::Prediction forecast(const char* kernel, const roofcast::Gpu& gpu) {
  const roofcast::KernelRef found = roofcast::find_kernel(kernel);
  roofcast::Problem problem{.dtype = roofcast::DType::fp32, .values = {4096, 4096, 4096}};
  roofcast::check(found, problem, 0b111);
  return roofcast::predict(found, problem, gpu);
}

}  // namespace

int main() {
  const roofcast::Prediction whole = forecast("gemm.vectorized", shipped());
  std::printf("limit %.3f ms, expected %.3f ms\n", whole.limit.time_s * 1e3,
              whole.time->expected_s * 1e3);
  if (whole.time->expected_s < whole.limit.time_s) return 1;

  // 2·4096³ FLOP at 100 SMs × 256 FLOP/clk × 1.5 GHz.
  const double by_hand_s = 2.0 * 4096 * 4096 * 4096 / (100 * 256 * 1.5e9);
  const double ratio = forecast("gemm", described()).limit.time_s / by_hand_s;
  std::printf("limit ÷ limit by hand: %.6f\n", ratio);
  return ratio > 0.999 && ratio < 1.001 ? 0 : 1;
}
