#pragma once
// Internal to validation/: the device as run files and curve files hold it.
#include <nlohmann/json.hpp>

#include "validation/runs/run.hpp"

namespace roofcast::validation {

nlohmann::ordered_json device_json(const DeviceRecord& device);

}  // namespace roofcast::validation
