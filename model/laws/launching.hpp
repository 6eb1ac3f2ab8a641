#pragma once
#include <optional>
#include <span>
#include <string>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Costs of starting kernels.
struct LaunchCosts {
  double first_s = 0;  ///< from a submission to the kernel's first instruction
  double next_s = 0;   ///< from the end of a kernel to the start of the next one in the queue
  /// Host time to submit one launch. Absent: all are submitted at once, as nodes of a graph.
  std::optional<double> host_submit_s{};
};

/// Back to back, the first launch costs as much as the next; else it follows a pause and costs
/// stream_launch_s, even in a graph.
LaunchCosts launch_costs(const Gpu& gpu, const Assumptions& assumptions);

/// Seconds that a kernel waits for code and parameters: first_access_s for the first lines, plus a
/// DRAM round trip for the rest of the code unless L2 has it (`back_to_back` or
/// Start::kept_code). 0 for at_once, programmatic, and cold_code back to back.
double code_fetch_s(Start how, bool back_to_back, double clock_hz, const Gpu& gpu);

/// Consecutive kernels of equal time.
struct LaunchRun {
  double count = 1;
  double running_s = 0;  ///< of one kernel
  /// Its blocks are resident when the launch before ends: no gap between the two.
  bool starts_early = false;
};

/// Launches in one stream. Launching is asynchronous: the host submits kernel i = 0, 1 … at
/// i · host_submit_s, and the device queues what it cannot start yet:
///   start_0 = first_s
///   start_i = max(first_s + i · host_submit_s - queued_s, end_(i-1) + next_s)   next_s: 0 if early
///   end_i   = start_i + running_i
/// where queued_s is earlier work in the stream when the first kernel was submitted.
struct Schedule {
  double launches = 0;
  double running_s = 0;  ///< sum of the kernels' times
  double total_s = 0;    ///< until the last kernel ends
  double waiting_s = 0;  ///< part of total_s: the device waits for the host
};
Schedule schedule(std::span<const LaunchRun> runs, const LaunchCosts& costs, double queued_s = 0);

/// A note on whether the queue hides the launches; absent for one launch or a graph.
std::optional<std::string> launching_note(const LaunchCosts& costs, const Schedule& schedule);

}  // namespace roofcast
