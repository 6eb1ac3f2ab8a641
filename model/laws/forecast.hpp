#pragma once
#include <optional>

#include "model/laws/clock.hpp"
#include "model/laws/launch_memory.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/regime.hpp"

namespace roofcast {

/// How long one launch takes once it has started, each resource's share, and the parts that add up.
struct LaunchTime {
  double time_s = 0;
  std::array<double, kResources> terms_s{};
  Waterfall parts;
  double slower_s = 0;          ///< of the time, because the power limit lowers the clock
  bool at_power_limit = false;  ///< the board's, that its arithmetic would exceed
};
LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const SmClock& clock, const Gpu& gpu);

/// Half-width of the interval around an expected time, relative, by what bounds it.
double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu);

}  // namespace roofcast
