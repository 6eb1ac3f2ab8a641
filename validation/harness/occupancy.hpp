#pragma once
#include <cstdint>
#include <optional>

#include "kernels/common/kernel.hpp"

namespace roofcast::harness {

/// What the runtime and the compiler say of a launch.
struct LaunchFacts {
  std::optional<std::int64_t> blocks_per_sm;
  std::optional<std::int64_t> registers;     ///< a thread
  std::optional<std::int64_t> shared_bytes;  ///< a block, static and dynamic
};

/// Of the first launch; nothing for a library that does not show its launches.
LaunchFacts launch_facts(const cuda::KernelEntry& kernel, const Problem& problem);

}  // namespace roofcast::harness
