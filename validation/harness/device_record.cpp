#include "validation/harness/device_record.hpp"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <array>

#include "validation/harness/handles.hpp"
#include "validation/harness/nvml.hpp"

namespace roofcast::harness {
namespace {

/// 13000 → "13.0"
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

cudaDeviceProp properties() {
  int device = 0;
  check(cudaGetDevice(&device));
  cudaDeviceProp out{};
  check(cudaGetDeviceProperties(&out, device));
  return out;
}

}  // namespace

Device device_in_use() {
  const cudaDeviceProp found = properties();
  return {found.multiProcessorCount, static_cast<std::size_t>(found.l2CacheSize)};
}

validation::DeviceRecord device_record(const std::string& gpu) {
  int device = 0, driver = 0, runtime = 0;
  check(cudaGetDevice(&device));
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), device));
  const ManagementFacts facts = management_facts(address.data());

  validation::DeviceRecord out;
  out.gpu = gpu;
  out.device = properties().name;
  out.driver = facts.driver.empty() ? "CUDA " + version_text(driver) : facts.driver;
  out.cuda_runtime = version_text(runtime);
  out.power_limit_w = facts.power_limit_w;
  out.max_sm_clock_hz = facts.max_sm_clock_hz;
  out.memory_clock_hz = facts.memory_clock_hz;
  return out;
}

validation::DeviceFacts device_facts() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    (void)cudaGetLastError();
    throw NoDevice(fmt::format(
        "no usable GPU: {}. Run this on a machine with an NVIDIA GPU and its driver; `roofcast "
        "compare` and `report` work without one.",
        status == cudaSuccess ? "none found" : cudaGetErrorString(status)));
  }
  const cudaDeviceProp found = properties();
  return {fmt::format("{}.{}", found.major, found.minor), found.multiProcessorCount,
          static_cast<double>(found.totalGlobalMem)};
}

}  // namespace roofcast::harness
