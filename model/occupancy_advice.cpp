#include <algorithm>

#include "model/advice.hpp"
#include "model/laws/occupancy.hpp"

namespace roofcast {

std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules) {
  const std::int64_t now = occupancy(launch, rules).warps_per_sm;
  std::vector<BetterSetting> found;
  // Whether this value alone raises the warps of an SM; then it is found.
  const auto helps = [&](std::string_view setting, std::int64_t value, const auto& set) {
    Launch changed = launch;
    set(changed, value);
    const Occupancy reached = occupancy(changed, rules);
    if (reached.warps_per_sm <= now) return false;
    found.push_back({setting, value, reached});
    return true;
  };
  const auto down = [&](std::string_view setting, std::int64_t Launch::*member, std::int64_t least,
                        std::int64_t step) {
    const auto set = [&](Launch& one, std::int64_t value) { one.*member = value; };
    for (std::int64_t value = (launch.*member - 1) / step * step;
         value >= least && value < launch.*member; value -= step) {
      if (helps(setting, value, set)) return;
    }
  };
  down("registers", &Launch::registers, 1, 1);
  down("shared_bytes", &Launch::shared_bytes, 0,
       std::max<std::int64_t>(1, rules.shared_allocation_unit_bytes));
  // Whole warps, the nearest first; of two as near the smaller.
  const std::int64_t threads = launch.threads(), warp = rules.warp_size;
  const auto set = [](Launch& one, std::int64_t value) { one.block = {value, 1, 1}; };
  std::int64_t below = (threads - 1) / warp * warp, above = threads / warp * warp + warp;
  while (below >= warp || above <= rules.threads_per_block) {
    const bool down_next =
        below >= warp && (above > rules.threads_per_block || threads - below <= above - threads);
    std::int64_t& next = down_next ? below : above;
    if (helps("threads", next, set)) break;
    next += down_next ? -warp : warp;
  }
  return found;
}

}  // namespace roofcast
