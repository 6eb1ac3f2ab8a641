#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/input/device.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {

/// The keys of --set without which every forecast of the rows would be the same. `devices` are the
/// names of --gpu, in the order in which the rows' GPUs were loaded from them.
std::vector<std::string> unread_overrides(std::span<const Candidate> rows,
                                          std::span<const Gpu> gpus,
                                          std::span<const std::string> devices,
                                          const DeviceOptions& options,
                                          const Assumptions& assumptions);

}  // namespace roofcast::cli
