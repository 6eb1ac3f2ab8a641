#pragma once
#include <optional>
#include <vector>

#include "model/laws/clock.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/launching.hpp"
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/regime.hpp"

namespace roofcast {

/// How long one launch takes once it has started, each resource's share, and the parts that add up.
struct LaunchTime {
  double time_s = 0;
  ByResource terms_s;
  Waterfall parts;
  double slower_s = 0;          ///< of the time, because the power limit lowers the clock
  bool at_power_limit = false;  ///< the board's, that its arithmetic would exceed
};
LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const SmClock& clock, const Gpu& gpu);

/// Half-width of the interval around an expected time, relative, by what bounds it.
double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu);

/// One launch of a program, as the laws find it.
struct TimedLaunch {
  const Launched* node;
  Occupancy fit;
  LaunchMemory memory;
  LaunchTime time{};
};

/// The launches of a program, one after the other.
struct ProgramTime {
  std::vector<TimedLaunch> launches;
  std::vector<LaunchRun> runs;  ///< the same, as the queue has them
  LaunchCosts costs;
  Schedule chain;
  Traffic l2, dram;      ///< of all launches
  double running_s = 0;  ///< of all kernels

  double launch_s() const { return chain.total_s - running_s; }
  double total_s() const { return launch_s() + running_s; }
};

/// The clock of a program, which uses tensor cores or does not. Absent where none is known.
std::optional<SmClock> expected_clock(bool on_tensor_cores, const Gpu& gpu,
                                      const Assumptions& assumptions);
std::optional<SmClock> clock_of(const LaunchSequence& program, const Gpu& gpu,
                                const Assumptions& assumptions);

/// Of a device whose occupancy rules and SMs are known. Throws InputError where a block does not
/// fit. The program must live as long as the answer.
ProgramTime program_time(const LaunchSequence& program, const SmClock& clock, const Gpu& gpu,
                         const Assumptions& assumptions);

}  // namespace roofcast
