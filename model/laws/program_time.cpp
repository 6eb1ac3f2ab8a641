#include "model/laws/program_time.hpp"

#include <algorithm>

#include "model/laws/feasibility.hpp"
#include "model/laws/l2_reuse.hpp"

namespace roofcast {
namespace {

bool uses_tensor_cores(const LaunchSequence& program) {
  return std::any_of(program.begin(), program.end(), [](const Launched& node) {
    return std::any_of(kAllDTypes.begin(), kAllDTypes.end(),
                       [&node](DType type) { return node.plan.useful.tensor_flops[type] > 0; });
  });
}

TimedLaunch sized(const LaunchSequence& program, std::size_t position, CacheState cache,
                  const Gpu& gpu) {
  const Occupancy fit = checked_occupancy(program[position].plan, gpu);
  return {&program[position], fit, launch_memory(program, position, fit, cache, gpu)};
}

// What crosses below L1. What stays dirty in L2 after a single launch, the last one need not wait
// for.
void add_memory(ProgramTime& result, CacheState cache, const Gpu& gpu) {
  for (const TimedLaunch& one : result.launches) {
    result.l2 += one.node->repeats * one.memory.l2;
    result.dram += one.node->repeats * one.memory.dram;
  }
  if (back_to_back(cache)) return;
  const double left = left_dirty_bytes(result.dram, gpu);
  result.dram.write_bytes -= left;
  double& last = result.launches.back().memory.dram.write_bytes;
  last = std::max(0.0, last - left);
}

}  // namespace

std::optional<SmClock> expected_clock(bool on_tensor_cores, const Gpu& gpu,
                                      const Assumptions& assumptions) {
  const auto& measured = assumptions.sm_clock_hz;
  const auto hz = measured ? measured : expected_clock_hz(gpu, on_tensor_cores);
  return hz ? std::optional(SmClock{*hz, measured.has_value(), back_to_back(assumptions.cache)})
            : std::nullopt;
}

std::optional<SmClock> clock_of(const LaunchSequence& program, const Gpu& gpu,
                                const Assumptions& assumptions) {
  return expected_clock(uses_tensor_cores(program), gpu, assumptions);
}

ProgramTime program_time(const LaunchSequence& program, const SmClock& clock, const Gpu& gpu,
                         const Assumptions& assumptions, std::span<const TimedLaunch> known) {
  const CacheState cache = assumptions.cache;
  ProgramTime result;
  result.launches.reserve(program.size());
  result.runs.reserve(program.size());
  result.launches.assign(known.begin(), known.end());
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (i < known.size()) {
      result.launches[i].node = &program[i];
    } else {
      result.launches.push_back(sized(program, i, cache, gpu));
    }
  }
  add_memory(result, cache, gpu);
  for (std::size_t i = 0; i < program.size(); ++i) {
    TimedLaunch& one = result.launches[i];
    const auto& [plan, repeats] = *one.node;
    if (i >= known.size()) one.time = launch_time(plan, one.fit, one.memory, clock, gpu);
    result.runs.push_back({repeats, one.time.time_s, plan.start == Start::programmatic});
    result.running_s += repeats * one.time.time_s;
  }
  result.costs = launch_costs(gpu, assumptions);
  result.chain = schedule(result.runs, result.costs, assumptions.queued_s);
  return result;
}

std::vector<TimedLaunch> beginning_times(const LaunchSequence& beginning, const SmClock& clock,
                                         const Gpu& gpu, CacheState cache) {
  std::vector<TimedLaunch> launches;
  if (back_to_back(cache)) return launches;
  launches.reserve(beginning.size());
  for (std::size_t i = 0; i < beginning.size(); ++i) {
    TimedLaunch& one = launches.emplace_back(sized(beginning, i, cache, gpu));
    one.time = launch_time(one.node->plan, one.fit, one.memory, clock, gpu);
  }
  return launches;
}

}  // namespace roofcast
