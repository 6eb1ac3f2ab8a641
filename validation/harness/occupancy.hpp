#pragma once
#include <cstdint>
#include <optional>

#include "kernels/common/kernel.hpp"

namespace roofcast::harness {

/// Occupancy and resources of a launch, from the CUDA runtime.
struct LaunchFacts {
  std::optional<std::int64_t> blocks_per_sm;
  std::optional<std::int64_t> registers;     ///< per thread
  std::optional<std::int64_t> shared_bytes;  ///< per block, static and dynamic
};

/// Facts of the kernel's first launch; empty for a library whose launches are not known.
LaunchFacts launch_facts(const cuda::KernelEntry& kernel, const Problem& problem);

}  // namespace roofcast::harness
