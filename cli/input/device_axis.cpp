#include "cli/input/device_axis.hpp"

#include <fmt/format.h>

#include "cli/input/sweep_axis.hpp"

namespace roofcast::cli {
namespace {

/// An axis for each override whose value is a range, and its place among the overrides.
struct Ranges {
  std::vector<Axis> axes;
  std::vector<std::size_t> places;
};

Ranges ranges_of(const std::vector<specs::Override>& overrides) {
  Ranges ranges;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    if (overrides[i].value.find(':') == std::string::npos) continue;
    ranges.axes.push_back(parse_axis(overrides[i].key, overrides[i].value));
    ranges.places.push_back(i);
  }
  return ranges;
}

}  // namespace

std::vector<Gpu> load_devices(const Options& options) {
  DeviceOptions device = read_device_options(options);
  const Ranges ranges = ranges_of(device.overrides);
  const Points points(ranges.axes, 1);
  std::vector<std::int64_t> values(ranges.axes.size());
  std::vector<Gpu> gpus;
  for (const std::string& name : read_device_names(options)) {
    for (std::size_t point = 0; point < points.count(); ++point) {
      points.at(point, values);
      std::string setting;
      for (std::size_t i = 0; i < values.size(); ++i) {
        specs::Override& one = device.overrides[ranges.places[i]];
        one.value = fmt::to_string(values[i]);
        setting += fmt::format(" {}={}", one.key, one.value);
      }
      gpus.push_back(load_device(name, device));
      gpus.back().name += setting;
    }
  }
  return gpus;
}

}  // namespace roofcast::cli
