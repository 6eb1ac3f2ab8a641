#pragma once
// Internal to validation/: JSON of the device in run files and curve files.
#include <nlohmann/json.hpp>

#include "hw_specs/json_node.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

nlohmann::ordered_json device_json(const DeviceRecord& device);
DeviceRecord device_from_json(const specs::JsonNode& node);

}  // namespace roofcast::validation
