#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/input/device.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {

/// The keys of --set that change none of the rows' forecasts. `devices` are the names of --gpu, in
/// the order of `gpus`.
std::vector<std::string> unread_overrides(std::span<const Candidate> rows,
                                          std::span<const Gpu> gpus,
                                          std::span<const std::string> devices,
                                          const DeviceOptions& options,
                                          const Assumptions& assumptions);

}  // namespace roofcast::cli
