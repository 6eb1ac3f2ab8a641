#include "model/laws/forecast.hpp"

#include <algorithm>

#include "model/counting/integers.hpp"
#include "model/laws/memory_cost.hpp"
#include "model/laws/occupancy.hpp"
#include "model/laws/sm_time.hpp"

namespace roofcast {
namespace {

WorkDone work_of(const Plan& plan, const ByResource& busy, const Traffic& dram, const Gpu& gpu) {
  const std::int64_t sms = std::min(plan.launch.blocks(), gpu.sm_count.value_or(1));
  return {.tensor_clk = tensor_cycles(plan.useful.tensor_flops, gpu) / tensor_share(plan, gpu),
          .warp_instructions =
              busy[Resource::issue] * gpu.sm.warp_issue_per_clk.value_or(0) * as_double(sms),
          .dram_bytes = dram.total_bytes()};
}

// The part of the waterfall to which a resource belongs.
constexpr Part part_of(Resource resource) {
  if (resource == Resource::launch) return Part::launch;
  return static_cast<Part>(static_cast<int>(Part::tensor) + static_cast<int>(resource));
}
static_assert(part_of(Resource::block_start) == Part::block_start);

// Divides the time into the fullest resource's, the tail, and exposed latency and waiting.
Waterfall parts_of(const SmTime& sm, const LaunchTime& launch, double clock_hz) {
  Waterfall parts;
  const Resource fullest = binding(launch.terms_s);
  const double busy_s = std::min(launch.terms_s[fullest], launch.time_s);
  const double tail_s = std::min(sm.idle / clock_hz, launch.time_s - busy_s);
  parts[part_of(fullest)] = busy_s;
  parts[Part::tail] = tail_s;
  parts[Part::latency] += launch.time_s - busy_s - tail_s;
  return parts;
}

// Adds up the traffic below L1. Except back to back, the write-back of lines still dirty in L2 is
// not timed: it is taken off the last launch.
void add_memory(SequenceTime& result, CacheState cache, const Gpu& gpu) {
  for (const TimedLaunch& one : result.launches) {
    result.l2 += one.node->repeats * one.memory.l2;
    result.dram += one.node->repeats * one.memory.dram;
  }
  if (back_to_back(cache)) return;
  const double left = left_dirty_bytes(result.dram, gpu);
  result.dram.write_bytes -= left;
  TimedLaunch& last = result.launches.back();
  double& written = last.memory.dram.write_bytes;
  written = std::max(0.0, written - left / last.node->repeats);
}

}  // namespace

LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       double clock_hz, const Gpu& gpu, const Assumptions& assumptions) {
  const MemoryCost cost = memory_cost(plan, occupancy, memory, clock_hz, gpu);
  const SmTime sm = sm_time(plan, occupancy, cost, gpu);
  LaunchTime result;
  result.time_s = sm.cycles / clock_hz;
  const Energy energy = energy_of(work_of(plan, sm.busy, memory.dram, gpu), gpu);
  result.energy_j = energy.total_j();
  if (!assumptions.sm_clock_hz) {
    const double sm_power_w = energy.sms_j / result.time_s * (1 + assumptions.clock_slowdown);
    const double own = launch_slowdown(sm_power_w, result.time_s, gpu);
    const double mean_power_w = result.energy_j / (result.time_s * (1 + own));
    const double long_run = long_run_slowdown(mean_power_w, assumptions.worked_s, gpu);
    result.slower_s = result.time_s * ((1 + own) * (1 + long_run) - 1);
    result.time_s += result.slower_s;
  }
  for (std::size_t i = 0; i < kResources; ++i) result.terms_s.at(i) = sm.busy.at(i) / clock_hz;
  const bool on_tensor_cores = plan.useful.tensor_flops.total() > 0;
  result.terms_s[on_tensor_cores ? Resource::tensor : Resource::vector] += result.slower_s;
  result.parts = parts_of(sm, result, clock_hz);
  const double new_data_s = memory.new_share * gpu.sustained.first_access_s.value_or(0);
  const double first_s = std::max(
      new_data_s, code_fetch_s(plan.start, back_to_back(assumptions.cache), clock_hz, gpu));
  result.parts[Part::first_access] = first_s;
  result.time_s += first_s;
  return result;
}

double relative_spread(double expected_s, const ByResource& terms, const Gpu& gpu) {
  constexpr double kUncalibrated = 0.5;
  const Sustained& known = gpu.sustained;
  const std::array by_regime = {known.spread_launch_bound, known.spread_memory,
                                known.spread_compute};
  return by_regime[static_cast<std::size_t>(regime_of(expected_s, terms))].value_or(kUncalibrated);
}

std::optional<SequenceTime> sequence_time(const LaunchSequence& sequence, const Gpu& gpu,
                                          const Assumptions& assumptions) {
  const bool on_tensor_cores =
      std::any_of(sequence.begin(), sequence.end(),
                  [](const Launched& node) { return node.plan.useful.tensor_flops.total() > 0; });
  const auto clock_hz = expected_clock_hz(gpu, on_tensor_cores, assumptions);
  if (!clock_hz || !gpu.occupancy || !gpu.sm_count) return std::nullopt;
  const CacheState cache = assumptions.cache;
  SequenceTime result;
  result.clock_hz = *clock_hz;
  result.launches.reserve(sequence.size());
  std::vector<LaunchRun> runs;
  runs.reserve(sequence.size());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const Occupancy fit = checked_occupancy(sequence[i].plan, gpu);
    result.launches.push_back({&sequence[i], fit, launch_memory(sequence, i, fit, cache, gpu)});
  }
  add_memory(result, cache, gpu);
  for (TimedLaunch& one : result.launches) {
    const auto& [plan, repeats] = *one.node;
    one.time = launch_time(plan, one.fit, one.memory, *clock_hz, gpu, assumptions);
    runs.push_back({repeats, one.time.time_s, plan.start == Start::programmatic});
  }
  result.costs = launch_costs(gpu, assumptions);
  result.schedule = schedule(runs, result.costs, assumptions.queued_s);
  return result;
}

}  // namespace roofcast
