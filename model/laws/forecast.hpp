#pragma once
#include <optional>
#include <vector>

#include "model/laws/clock.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/launching.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Time of one launch without launch costs.
struct LaunchTime {
  double time_s = 0;
  ByResource terms_s;   ///< seconds of each resource alone
  Waterfall parts;      ///< seconds by part, which add up to time_s
  double slower_s = 0;  ///< part of time_s: clock lowered by the power limit
  double energy_j = 0;  ///< of its work
};
LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       double clock_hz, const Gpu& gpu, const Assumptions& assumptions = {});

/// Relative half-width of the interval around an expected time, by the regime of the launch.
double relative_spread(double expected_s, const ByResource& terms, const Gpu& gpu);

/// A launch of a sequence with its occupancy, its memory traffic and its time.
struct TimedLaunch {
  const Launched* node;
  Occupancy fit;
  LaunchMemory memory;
  LaunchTime time{};

  double total_s() const { return node->repeats * time.time_s; }
};

/// The forecast of a launch sequence.
struct SequenceTime {
  double clock_hz = 0;  ///< of the SMs, before the power of a launch lowers it
  std::vector<TimedLaunch> launches;
  LaunchCosts costs;
  Schedule schedule;
  Traffic l2, dram;  ///< sums over all launches
};

/// Forecasts a launch sequence; absent where the device's clock, occupancy rules or SM count are
/// unknown. Throws InputError as checked_occupancy. The result points into `sequence`, which must
/// outlive it.
std::optional<SequenceTime> sequence_time(const LaunchSequence& sequence, const Gpu& gpu,
                                          const Assumptions& assumptions);

}  // namespace roofcast
