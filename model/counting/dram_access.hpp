#pragma once
#include <cstdint>

#include "model/counting/coalescing.hpp"
#include "model/types/gpu.hpp"

namespace roofcast {

/// What DRAM moves at the least for a read (B); devices that do not say move single sectors.
inline std::int64_t dram_access_bytes(const Gpu& gpu) {
  return static_cast<std::int64_t>(
      gpu.memory.dram_access_bytes.value_or(static_cast<double>(kSectorBytes)));
}

}  // namespace roofcast
