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

// What crosses below L1. What stays dirty in L2 after a single launch, the last one need not wait
// for.
void add_memory(ProgramTime& result, CacheState cache, const Gpu& gpu) {
  for (const TimedLaunch& one : result.launches) {
    result.l2 += one.node->repeats * one.memory.l2;
    result.dram += one.node->repeats * one.memory.dram;
  }
  if (cache == CacheState::steady) return;
  const double left = left_dirty_bytes(result.dram, gpu);
  result.dram.write_bytes -= left;
  double& last = result.launches.back().memory.dram.write_bytes;
  last = std::max(0.0, last - left);
}

}  // namespace

std::optional<SmClock> clock_of(const LaunchSequence& program, const Gpu& gpu,
                                const Assumptions& assumptions) {
  const auto& measured = assumptions.sm_clock_hz;
  const auto hz = measured ? measured : expected_clock_hz(gpu, uses_tensor_cores(program));
  const bool back_to_back = assumptions.cache == CacheState::steady;
  return hz ? std::optional(SmClock{*hz, measured.has_value(), back_to_back}) : std::nullopt;
}

ProgramTime program_time(const LaunchSequence& program, const SmClock& clock, const Gpu& gpu,
                         const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  ProgramTime result;
  result.launches.reserve(program.size());
  result.runs.reserve(program.size());
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Occupancy fit = checked_occupancy(program[i].plan, gpu);
    result.launches.push_back({&program[i], fit, launch_memory(program, i, fit, cache, gpu)});
  }
  add_memory(result, cache, gpu);
  for (TimedLaunch& one : result.launches) {
    const auto& [plan, repeats] = *one.node;
    one.time = launch_time(plan, one.fit, one.memory, clock, gpu);
    result.runs.push_back({repeats, one.time.time_s, plan.start == Start::programmatic});
    result.running_s += repeats * one.time.time_s;
  }
  result.costs = launch_costs(gpu, cache, assumptions.launch.value_or(usual_launch(cache)));
  result.chain = schedule(result.runs, result.costs, assumptions.queued_s);
  return result;
}

}  // namespace roofcast
