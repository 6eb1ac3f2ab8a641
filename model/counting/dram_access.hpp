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

/// AccessPattern::read_density of tiles, whose copies take a line of each of many rows: DRAM sends
/// lines at random at 0.935 of the rate of streams (microbenchmark scattered, 128 B).
inline constexpr double kDensityOfLines = 0.56;

}  // namespace roofcast
