#pragma once
#include <optional>
#include <span>
#include <vector>

#include "model/laws/clock.hpp"
#include "model/laws/forecast.hpp"
#include "model/laws/launch_memory.hpp"
#include "model/laws/launching.hpp"
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"

namespace roofcast {

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
/// fit. The program must live as long as the answer. `known`: its first launches, timed before.
ProgramTime program_time(const LaunchSequence& program, const SmClock& clock, const Gpu& gpu,
                         const Assumptions& assumptions, std::span<const TimedLaunch> known = {});

/// The launches of a program's beginning, which others follow. Launches back to back, of which the
/// smallest find their data by what all of them use, have no beginning of their own: none.
std::vector<TimedLaunch> beginning_times(const LaunchSequence& beginning, const SmClock& clock,
                                         const Gpu& gpu, CacheState cache);

}  // namespace roofcast
