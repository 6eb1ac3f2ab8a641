#include <algorithm>
#include <cstdlib>
#include <utility>

#include "advice/advice.hpp"
#include "model/counting/integers.hpp"
#include "model/laws/occupancy.hpp"

namespace roofcast {

std::vector<BetterSetting> better_settings(const Launch& launch, const Gpu& gpu) {
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t now = occupancy(launch, gpu).warps_per_sm, threads = launch.threads();
  Launch changed = launch;
  changed.block = {threads, 1, 1};
  std::vector<BetterSetting> found;
  // Adds the first of the multiples of `width` up to `most`, the nearest first, that raises the
  // warps of an SM.
  const auto try_all = [&](std::string_view name, std::int64_t& setting, std::int64_t width,
                           std::int64_t least, std::int64_t most) {
    const std::int64_t asked = setting;
    std::vector<std::int64_t> values;
    for (std::int64_t value = round_up(least, width); value <= most; value += width) {
      values.push_back(value);
    }
    std::sort(values.begin(), values.end(), [asked](std::int64_t a, std::int64_t b) {
      return std::pair(std::abs(a - asked), a) < std::pair(std::abs(b - asked), b);
    });
    for (const std::int64_t value : values) {
      setting = value;
      const Occupancy reached = occupancy(changed, gpu);
      if (reached.warps_per_sm <= now) continue;
      found.push_back({name, value, reached});
      break;
    }
    setting = asked;
  };
  try_all("registers", changed.registers, 1, 1, launch.registers - 1);
  try_all("shared_bytes", changed.shared_bytes, rules.shared_allocation_unit_bytes, 0,
          launch.shared_bytes - 1);
  try_all("threads", changed.block[0], rules.warp_size, rules.warp_size, rules.threads_per_block);
  return found;
}

}  // namespace roofcast
