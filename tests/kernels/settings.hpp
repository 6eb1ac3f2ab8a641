#pragma once
// Problems whose settings the model chooses, as the harness does.
#include <cuda_runtime.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"
#include "kernels/common/kernel.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cuda {

/// A shipped device of this GPU's compute capability, whose allocation rules go with it; without a
/// GPU of the newest one that the kernels are compiled for.
inline std::optional<Gpu> shipped_like_this() {
  ComputeCapability capability{9, 0};
  int device = 0;
  if (cudaGetDevice(&device) == cudaSuccess) {
    (void)cudaDeviceGetAttribute(&capability.major, cudaDevAttrComputeCapabilityMajor, device);
    (void)cudaDeviceGetAttribute(&capability.minor, cudaDevAttrComputeCapabilityMinor, device);
  } else {
    (void)cudaGetLastError();
  }
  for (const specs::Embedded& embedded : specs::embedded()) {
    Gpu gpu = specs::load(specs::shipped_source(embedded));
    if (gpu.compute_capability == capability && gpu.occupancy) return gpu;
  }
  return std::nullopt;
}

/// The problem with every candidate's settings, the fastest by the model first; itself where it has
/// none left to choose, where the model does not know the kernel, its type or its settings, or
/// where a library chooses by itself.
inline std::vector<Problem> settled(std::string_view name, const Problem& problem) {
  if (name.ends_with(".library")) return {problem};
  static const std::optional<Gpu> gpu = shipped_like_this();
  const KernelModel* kernel = nullptr;
  for (const KernelFamily& family : roofcast::catalog()) {
    for (const KernelModel& one : family.variants) {
      if (one.name == name) kernel = &one;
    }
  }
  if (!gpu || kernel == nullptr || kernel->candidates == nullptr) return {problem};
  const auto& types = kernel->dtypes;
  if (std::find(types.begin(), types.end(), problem.dtype) == types.end()) return {problem};
  try {
    std::vector<Problem> ways = kernel->candidates(problem, *gpu);
    const Problem fastest = with_settings(find_kernel(name), problem, *gpu);
    const auto found = std::find(ways.begin(), ways.end(), fastest);
    if (found != ways.end()) std::iter_swap(ways.begin(), found);
    return ways;
  } catch (const InputError&) {
    return {problem};  // the kernel says why
  }
}

}  // namespace roofcast::cuda
