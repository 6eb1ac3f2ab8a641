#pragma once
#include <optional>

#include "model/gpu.hpp"
#include "model/plan.hpp"
#include "model/predict.hpp"
#include "model/prediction.hpp"

namespace roofcast {

/// One launch: what it moves to and from DRAM, and how long it takes once it has started.
struct LaunchForecast {
  Traffic dram;
  double time_s = 0;
  std::array<double, kResources> terms_s{};
};
LaunchForecast forecast(const Plan& plan, const Occupancy& occupancy, double clock_hz,
                        const Gpu& gpu, CacheState cache);

/// Seconds to start `launches` kernels one after the other.
double launch_cost_s(double launches, const Gpu& gpu, CacheState cache);

/// Half-width of the interval around an expected time, relative, by what bounds it.
double relative_spread(double expected_s, Resource bound, const Gpu& gpu);

}  // namespace roofcast
