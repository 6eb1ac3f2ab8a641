#pragma once
// Finds the specification that describes the present device.
#include <cstdint>
#include <span>
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast::validation {

/// Properties of a device, from the driver.
struct DeviceFacts {
  std::string compute_capability;  ///< "9.0"
  std::int64_t sm_count = 0;
  double dram_bytes = 0;
};

/// The specification with the same compute capability and SM count whose memory size is nearest,
/// within 15% (the driver reserves some memory). Null if there is none.
const Gpu* match_device(const DeviceFacts& facts, std::span<const Gpu> specifications);

}  // namespace roofcast::validation
