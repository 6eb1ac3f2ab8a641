#include "validation/profiles/counted.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/described/kernel.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast::validation {
namespace {

described::Quantity number(double value) {
  constexpr double kMost = 9e15;  // more only in a broken file
  return described::Quantity(
      std::to_string(static_cast<std::int64_t>(std::clamp(value, 0.0, kMost))));
}

described::Quantity number(std::int64_t value) {
  return described::Quantity(std::to_string(value));
}

DType multiplied_type(std::string_view name) {
  struct Part {
    std::string_view part;
    DType type;
  };
  constexpr std::array kParts = {Part{"tf32", DType::tf32}, Part{"s1688gemm_f", DType::tf32},
                                 Part{"e4m3", DType::fp8},  Part{"e5m2", DType::fp8},
                                 Part{"_i8", DType::int8},  Part{"f64", DType::fp64}};
  for (const Part& one : kParts) {
    if (name.find(one.part) != name.npos) return one.type;
  }
  return DType::bf16;
}

}  // namespace

FlopsByType tensor_flops_of(const ProfiledKernel& kernel, Does does, const Gpu& gpu) {
  const CountedWork& counted = kernel.counted;
  if (counted.has_tensor_flops) return counted.tensor_flops;
  FlopsByType flops;
  // Other pipes share the counter: it is used only for kernels that multiply matrices.
  const bool multiplies = does == Does::product || does == Does::attention;
  if (!multiplies || !counted.tensor_busy || !counted.sm_clock_hz) return flops;
  const DType type = multiplied_type(kernel.name);
  const auto peak = device_rate(gpu.sm.tensor_flop_per_clk[type], gpu, counted.sm_clock_hz);
  const double call_s = kernel.time_s / static_cast<double>(kernel.calls);
  flops[type] = *counted.tensor_busy * peak.value_or(0) * call_s;
  return flops;
}

std::optional<double> dram_bytes_of(const ProfiledKernel& kernel, const Gpu& gpu) {
  const CountedWork& counted = kernel.counted;
  if (const auto bytes = counted.dram_bytes()) return bytes;
  const auto& peak = gpu.memory.dram_bandwidth_bytes_per_s;
  if (!counted.dram_busy || !peak) return std::nullopt;
  return *counted.dram_busy * *peak * kernel.time_s / static_cast<double>(kernel.calls);
}

std::optional<Recognized> described_by_counters(const ProfiledKernel& kernel, Does does) {
  const CountedWork& counted = kernel.counted;
  if (!kernel.launch || (!counted.dram_bytes() && counted.flops() <= 0)) return std::nullopt;
  const Launch& launch = *kernel.launch;
  described::Description made;
  made.name = brief_kernel_name(kernel.name);
  made.summary = "what was counted of it";
  made.grid = {number(launch.grid[0]), number(launch.grid[1]), number(launch.grid[2])};
  made.threads = number(launch.threads());
  made.registers = number(std::max<std::int64_t>(launch.registers, 1));
  made.shared_bytes = number(launch.shared_bytes);
  if (counted.vector_flops) {
    made.flops = {{counted.vector_type, number(*counted.vector_flops)}};
    made.dtypes = {counted.vector_type};
  }
  for (const DType type : kAllDTypes) {
    if (counted.tensor_flops[type] > 0) {
      made.tensor_flops.emplace_back(type, number(counted.tensor_flops[type]));
    }
  }
  if (counted.warp_instructions) {
    constexpr double kWarp = 32;
    made.instructions = number(kWarp * *counted.warp_instructions);
  }
  if (counted.l2_read_bytes) made.l2_read_bytes = number(*counted.l2_read_bytes);
  if (counted.l2_write_bytes) made.l2_write_bytes = number(*counted.l2_write_bytes);
  made.arrays = {{number(counted.dram_read_bytes.value_or(0))},
                 {{}, number(counted.dram_write_bytes.value_or(0))}};
  const KernelRef described = described::make_kernel(std::move(made));
  return Recognized{described, problem_with_fallbacks(described, counted.vector_type), does};
}

}  // namespace roofcast::validation
