#pragma once
#include <optional>

#include "model/predict.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/regime.hpp"

namespace roofcast {

/// What one launch moves to and from DRAM, each written byte counted.
Traffic launch_traffic(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu);

/// How long one launch takes once it has started, and each resource's share.
struct LaunchTime {
  double time_s = 0;
  std::array<double, kResources> terms_s{};
};
LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                       double clock_hz, const Gpu& gpu);

/// Half-width of the interval around an expected time, relative, by what bounds it.
double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu);

}  // namespace roofcast
