#pragma once
// The device at hand. This header needs no CUDA.
#include <cstddef>
#include <stdexcept>
#include <string>

#include "validation/comparison/device_match.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::harness {

/// There is no GPU this build can use; what() says why and what to do.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Properties of the current device that timing needs.
struct Device {
  int sm_count = 0;
  std::size_t l2_bytes = 0;
};
Device device_in_use();

/// For the run file; `gpu` is the specification's name.
validation::DeviceRecord device_record(const std::string& gpu);

/// Properties by which match_device chooses the specification. Throws NoDevice.
validation::DeviceFacts device_facts();

}  // namespace roofcast::harness
