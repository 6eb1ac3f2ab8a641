#include "model/laws/launching.hpp"

#include <algorithm>
#include <cmath>

#include "model/constants/laws.hpp"
#include "model/laws/stations.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

double gap_s(const LaunchRun& run, const LaunchCosts& costs) {
  return run.starts_early ? 0 : costs.next_s;
}

// When the last kernel ends.
double end_of(std::span<const LaunchRun> runs, const LaunchCosts& costs, double queued_s) {
  double end_s = costs.first_s - gap_s(runs.front(), costs);  // the first kernel starts at first_s
  double submitted = 0;
  for (const LaunchRun& run : runs) {
    if (run.count <= 0) continue;
    const double each_s = gap_s(run, costs) + run.running_s;
    double last_end_s = end_s + run.count * each_s;
    if (costs.host_submit_s) {
      // The end is max over kernels i of (arrival i + time of i and all after it). This is linear
      // in i, so the first or the last kernel decides.
      const auto arrival_s = [&](double i) {
        return costs.first_s + i * *costs.host_submit_s - (i > 0 ? queued_s : 0);
      };
      const double last = run.count - 1;
      last_end_s = std::max({last_end_s, arrival_s(submitted) + run.running_s + last * each_s,
                             arrival_s(submitted + last) + run.running_s});
    }
    end_s = last_end_s;
    submitted += run.count;
  }
  return end_s;
}

}  // namespace

LaunchCosts launch_costs(const Gpu& gpu, const Assumptions& assumptions) {
  const bool one_of_many = back_to_back(assumptions.cache);
  const LaunchMode mode =
      assumptions.launch.value_or(one_of_many ? LaunchMode::graph : LaunchMode::stream);
  const double in_graph = gpu.sustained.graph_launch_s.value_or(0);
  const double alone = gpu.sustained.stream_launch_s.value_or(in_graph);
  if (mode == LaunchMode::stream) {
    const double queued = gpu.sustained.launch_gap_s.value_or(in_graph);
    if (one_of_many) return {queued, queued, std::nullopt};
    return {alone, queued, gpu.sustained.host_submit_s};
  }
  const double next = mode == LaunchMode::pdl ? in_graph * law::kPdlLaunchShare.value : in_graph;
  return {one_of_many ? next : alone, next, std::nullopt};
}

double code_fetch_s(Start how, bool back_to_back, double clock_hz, const Gpu& gpu) {
  if (how == Start::at_once || how == Start::programmatic) return 0;
  if (how == Start::cold_code && back_to_back) return 0;
  const bool in_l2 = back_to_back || how == Start::kept_code;
  const double trip_cycles =
      rate(gpu.sustained.latency.dram_cycles, gpu.latency.dram_cycles).value_or(0);
  return gpu.sustained.first_access_s.value_or(0) + (in_l2 ? 0 : trip_cycles / clock_hz);
}

Schedule schedule(std::span<const LaunchRun> runs, const LaunchCosts& costs, double queued_s) {
  Schedule result;
  for (const LaunchRun& run : runs) {
    result.launches += run.count;
    result.running_s += run.count * run.running_s;
  }
  if (result.launches <= 0) return result;
  result.total_s = end_of(runs, costs, queued_s);
  const double busy_s = end_of(runs, {costs.first_s, costs.next_s, std::nullopt}, 0);
  constexpr double kRounding = 1e-12;
  const double waiting_s = result.total_s - busy_s;
  if (waiting_s > kRounding * busy_s) result.waiting_s = waiting_s;
  return result;
}

std::optional<std::string> launching_note(const LaunchCosts& costs, const Schedule& schedule) {
  if (!costs.host_submit_s || schedule.launches <= 1) return std::nullopt;
  // Costs are known to three digits at best.
  const auto time_text = [](double seconds) { return si_text(seconds, "s", 3); };
  const std::string work = message(time_text(*costs.host_submit_s), " to submit each of ",
                                   std::llround(schedule.launches), " kernels of ",
                                   time_text(schedule.running_s / schedule.launches));
  if (schedule.waiting_s <= 0) return "the queue hides the launches: " + work;
  return message("bound by the host: ", work, "; the device waits ", time_text(schedule.waiting_s));
}

}  // namespace roofcast
