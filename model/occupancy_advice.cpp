#include "model/occupancy_advice.hpp"

#include <algorithm>

#include "model/laws/occupancy.hpp"

namespace roofcast {
namespace {

std::vector<std::int64_t> down_from(std::int64_t value, std::int64_t least, std::int64_t step) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = (value - 1) / step * step; v >= least && v < value; v -= step) {
    values.push_back(v);
  }
  return values;
}

/// Whole warps, the nearest first; of two as near the smaller.
std::vector<std::int64_t> near_threads(std::int64_t threads, const OccupancyRules& rules) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = rules.warp_size; v <= rules.threads_per_block; v += rules.warp_size) {
    if (v != threads) values.push_back(v);
  }
  std::stable_sort(values.begin(), values.end(), [threads](std::int64_t a, std::int64_t b) {
    return std::max(a - threads, threads - a) < std::max(b - threads, threads - b);
  });
  return values;
}

}  // namespace

std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules) {
  const std::int64_t now = occupancy(launch, rules).warps_per_sm;
  std::vector<BetterSetting> found;
  // The first of the values that raises the warps of an SM.
  const auto add = [&](std::string_view setting, const std::vector<std::int64_t>& values,
                       const auto& set) {
    for (const std::int64_t value : values) {
      Launch changed = launch;
      set(changed, value);
      const Occupancy reached = occupancy(changed, rules);
      if (reached.warps_per_sm > now) return found.push_back({setting, value, reached});
    }
  };
  const std::int64_t unit = std::max<std::int64_t>(1, rules.shared_allocation_unit_bytes);
  add("registers", down_from(launch.registers, 1, 1),
      [](Launch& one, std::int64_t value) { one.registers = value; });
  add("shared_bytes", down_from(launch.shared_bytes, 0, unit),
      [](Launch& one, std::int64_t value) { one.shared_bytes = value; });
  add("threads", near_threads(launch.threads(), rules), [](Launch& one, std::int64_t value) {
    one.block = {value, 1, 1};
  });
  return found;
}

}  // namespace roofcast
