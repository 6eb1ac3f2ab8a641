#include "model/laws/forecast.hpp"

#include <algorithm>

#include "model/laws/clock.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/memory_cost.hpp"
#include "model/laws/sm_time.hpp"

namespace roofcast {
namespace {

// Of an average SM.
double useful_tensor_cycles(const Plan& plan, const Gpu& gpu) {
  double cycles = 0;
  for (const DType type : kAllDTypes) {
    if (const auto rate = gpu.sm.tensor_flop_per_clk[type]) {
      cycles += plan.useful.tensor_flops[type] / *rate;
    }
  }
  return cycles / (tensor_share(plan, gpu) * static_cast<double>(gpu.sm_count.value_or(1)));
}

// The part of an SM's time that a resource takes.
constexpr Part part_of(Resource resource) {
  constexpr std::array<Part, kResources> parts = {
      Part::tensor, Part::vector, Part::special, Part::conversion, Part::issue,       Part::shared,
      Part::l1,     Part::l2,     Part::dram,    Part::latency,    Part::block_start, Part::launch};
  return parts[static_cast<std::size_t>(resource)];
}

// What the fullest resource takes, places that stay empty at the end, and latency and waiting that
// nothing hides.
Waterfall parts_of(const SmTime& sm, const LaunchTime& launch, double clock_hz) {
  Waterfall parts;
  const auto fullest =
      std::max_element(launch.terms_s.begin(), launch.terms_s.end()) - launch.terms_s.begin();
  const double busy_s = std::min(launch.terms_s[static_cast<std::size_t>(fullest)], launch.time_s);
  const double tail_s = std::min(sm.idle / clock_hz, launch.time_s - busy_s);
  parts[part_of(static_cast<Resource>(fullest))] = busy_s;
  parts[Part::tail] = tail_s;
  parts[Part::latency] += launch.time_s - busy_s - tail_s;
  return parts;
}

// Without a calibration an expected time is no better than this.
constexpr double kUncalibratedSpread = 0.5;

}  // namespace

LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const SmClock& clock, const Gpu& gpu) {
  const MemoryCost cost = memory_cost(plan, occupancy, memory, clock.hz, gpu);
  const SmTime sm = sm_time(plan, occupancy, cost, gpu);
  LaunchTime result;
  result.time_s = sm.cycles / clock.hz;
  if (!clock.given) {
    const double busy = useful_tensor_cycles(plan, gpu) / sm.cycles;
    const double by_load = tensor_power_slowdown(busy, result.time_s, clock, gpu);
    const double by_board = board_power_slowdown(plan, result.time_s, gpu);
    result.slower_s = result.time_s * std::max(by_load, by_board);
    result.at_power_limit = by_board > by_load;
    result.time_s += result.slower_s;
  }
  for (std::size_t i = 0; i < kResources; ++i) result.terms_s[i] = sm.busy[i] / clock.hz;
  const bool on_tensor_cores = plan.useful.tensor_flops.total() > 0;
  result.terms_s[static_cast<std::size_t>(on_tensor_cores ? Resource::tensor : Resource::vector)] +=
      result.slower_s;
  result.parts = parts_of(sm, result, clock.hz);
  const double new_data_s = memory.new_share * gpu.sustained.first_access_s.value_or(0);
  const double first_s =
      std::max(new_data_s, code_fetch_s(plan.start, memory.back_to_back, clock.hz, gpu));
  if (first_s > 0) result.parts[Part::first_access] = first_s;
  result.time_s += result.parts[Part::first_access];
  return result;
}

double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu) {
  const Sustained& known = gpu.sustained;
  const std::array by_regime = {known.spread_launch_bound, known.spread_memory,
                                known.spread_compute};
  return by_regime[static_cast<std::size_t>(regime_of(expected_s, terms))].value_or(
      kUncalibratedSpread);
}

}  // namespace roofcast
