#include "model/occupancy_advice.hpp"

#include <algorithm>
#include <optional>

#include "model/laws/occupancy.hpp"

namespace roofcast {
namespace {

/// The launch with `setting` at `value`.
Launch with(Launch launch, std::string_view setting, std::int64_t value) {
  if (setting == "registers") launch.registers = value;
  if (setting == "shared_bytes") launch.shared_bytes = value;
  if (setting == "threads") launch.block = {value, 1, 1};
  return launch;
}

/// The first of the values that raises the warps of an SM.
std::optional<BetterSetting> first_better(const Launch& launch, const OccupancyRules& rules,
                                          std::string_view setting,
                                          const std::vector<std::int64_t>& values) {
  const std::int64_t now = occupancy(launch, rules).warps_per_sm;
  for (const std::int64_t value : values) {
    const Occupancy reached = occupancy(with(launch, setting, value), rules);
    if (reached.warps_per_sm > now) return BetterSetting{setting, value, reached};
  }
  return std::nullopt;
}

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
  const std::int64_t unit = std::max<std::int64_t>(1, rules.shared_allocation_unit_bytes);
  std::vector<BetterSetting> found;
  const auto add = [&](std::string_view setting, const std::vector<std::int64_t>& values) {
    if (const auto better = first_better(launch, rules, setting, values)) found.push_back(*better);
  };
  add("registers", down_from(launch.registers, 1, 1));
  add("shared_bytes", down_from(launch.shared_bytes, 0, unit));
  add("threads", near_threads(launch.threads(), rules));
  return found;
}

}  // namespace roofcast
