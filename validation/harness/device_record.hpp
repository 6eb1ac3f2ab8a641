#pragma once
#include <cstddef>
#include <string>

#include "validation/comparison/device_match.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::harness {

/// Properties of the current device that timing needs.
struct Device {
  int sm_count = 0;
  std::size_t l2_bytes = 0;
};
Device device_in_use();

/// For the run file; `gpu` is the specification's name.
validation::DeviceRecord device_record(const std::string& gpu);

/// Throws validation::NoDevice unless there is a device that this build's kernels run on.
validation::DeviceFacts device_facts();

}  // namespace roofcast::harness
