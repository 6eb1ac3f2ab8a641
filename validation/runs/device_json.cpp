#include "validation/runs/device_json.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "hw_specs/source_rules.hpp"

namespace roofcast::validation {
namespace {

/// A number of the record, absent where the driver did not tell it.
struct Field {
  std::string_view key;
  std::optional<double> DeviceRecord::*member;
  double most;  ///< no device exceeds it: refuses damaged files
};
constexpr std::array<Field, 3> kFields = {{
    {"power_limit_w", &DeviceRecord::power_limit_w, 1e5},
    {"max_sm_clock_hz", &DeviceRecord::max_sm_clock_hz, 1e11},
    {"memory_clock_hz", &DeviceRecord::memory_clock_hz, 1e11},
}};

}  // namespace

DeviceRecord device_from_json(const specs::JsonNode& node) {
  node.allow_only({"gpu", "device", "driver", "cuda_runtime", "power_limit_w", "max_sm_clock_hz",
                   "memory_clock_hz"});
  DeviceRecord device;
  device.gpu = node.at("gpu").text();
  if (!specs::is_device_name(device.gpu)) {
    node.at("gpu").refuse("the name of a GPU, never a path",
                          "write one that `roofcast gpus` lists");
  }
  device.device = node.at("device").text();
  device.driver = node.at("driver").text();
  device.cuda_runtime = node.at("cuda_runtime").text();
  for (const auto& [key, member, most] : kFields) {
    if (const auto found = node.find(key)) device.*member = found->positive(most);
  }
  return device;
}

nlohmann::ordered_json device_json(const DeviceRecord& device) {
  nlohmann::ordered_json out = {{"gpu", device.gpu},
                                {"device", device.device},
                                {"driver", device.driver},
                                {"cuda_runtime", device.cuda_runtime}};
  for (const auto& [key, member, most] : kFields) {
    if (device.*member) out[std::string(key)] = *(device.*member);
  }
  return out;
}

}  // namespace roofcast::validation
