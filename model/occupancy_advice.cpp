#include <algorithm>
#include <cstdlib>

#include "model/advice.hpp"
#include "model/laws/occupancy.hpp"

namespace roofcast {

std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules) {
  const std::int64_t now = occupancy(launch, rules).warps_per_sm, threads = launch.threads();
  std::vector<BetterSetting> found;
  // Adds the first value that raises the warps of an SM.
  const auto try_all = [&](std::string_view setting, const std::vector<std::int64_t>& values,
                           const auto& set) {
    for (const std::int64_t value : values) {
      Launch changed = launch;
      set(changed, value);
      const Occupancy reached = occupancy(changed, rules);
      if (reached.warps_per_sm > now) return found.push_back({setting, value, reached});
    }
  };
  const auto multiples = [](std::int64_t width, std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> values;
    for (std::int64_t value = most / width * width; value >= least; value -= width) {
      values.push_back(value);
    }
    return values;
  };
  try_all("registers", multiples(1, 1, launch.registers - 1),
          [](Launch& one, std::int64_t value) { one.registers = value; });
  try_all("shared_bytes",
          multiples(std::max<std::int64_t>(1, rules.shared_allocation_unit_bytes), 0,
                    launch.shared_bytes - 1),
          [](Launch& one, std::int64_t value) { one.shared_bytes = value; });
  // Whole warps, nearest first, of two at equal distance the smaller first.
  auto warps = multiples(rules.warp_size, rules.warp_size, rules.threads_per_block);
  std::sort(warps.begin(), warps.end(), [&](std::int64_t a, std::int64_t b) {
    return std::pair(std::abs(a - threads), a) < std::pair(std::abs(b - threads), b);
  });
  try_all("threads", warps, [](Launch& one, std::int64_t value) { one.block = {value, 1, 1}; });
  return found;
}

}  // namespace roofcast
