#pragma once
// A binary that holds a compilation for each generation of devices.
#include <cstdint>
#include <span>

#include "model/types/gpu.hpp"

namespace roofcast {

/// One of the compilations in a binary.
struct Compilation {
  int from_major;  ///< of the compute capability
  std::int64_t registers;
};

/// The compilation that a device runs: the last one that is not too new for it. `all` begins with
/// the oldest, which also serves a device without a compute capability.
inline const Compilation& compiled_for(const Gpu& gpu, std::span<const Compilation> all) {
  const int major = gpu.compute_capability ? gpu.compute_capability->major : 0;
  const Compilation* compiled = &all.front();
  for (const Compilation& one : all) {
    if (one.from_major <= major) compiled = &one;
  }
  return *compiled;
}

}  // namespace roofcast
