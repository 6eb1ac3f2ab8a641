#pragma once
// Which specification describes the device at hand.
#include <cstdint>
#include <span>
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast::validation {

/// What the driver tells of a device.
struct DeviceFacts {
  std::string compute_capability;  ///< "9.0"
  std::int64_t sm_count = 0;
  double dram_bytes = 0;
};

/// The specification of equal compute capability and SM count whose memory is nearest, within 15%
/// (a driver keeps some of it back). Null if there is none.
const Gpu* match_device(const DeviceFacts& facts, std::span<const Gpu> specifications);

}  // namespace roofcast::validation
