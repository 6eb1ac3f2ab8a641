// The GPU waits for the host if launches are submitted more slowly than they run.
#include <algorithm>
#include <array>
#include <utility>

#include "model/transformer/step_composer.hpp"
#include "model/types/problem.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

// Waits in each segment (s). The host makes a call in `launch_s`, twice that if it also records the
// operation for the backward pass, and starts a step when the GPU has ended the one before. A
// call's launches run once it is made and those before have ended:
//   T = max over the calls of (submission of all up to it + time of it and all after it).
// Within a segment, all passes together, both grow evenly: the maximum is at an end of one.
auto waits_s(const Step& step, const Task& task, double launch_s) {
  std::array<double, kStepSegments.size()> waits{};
  double submitted_s = 0, ended_s = 0, waited_s = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const StepSegment& here = kStepSegments[i];
    const bool records =
        task.phase == Phase::train && here.is_forward() && here.section != Section::once;
    for (const StepOperation& one : step.operations) {
      if (!here.has(one) || one.order != Order::in_turn) continue;
      ended_s += one.expected_s;
      submitted_s += one.calls * launch_s * (records ? 2 : 1);
    }
    const double until_s = std::max(waited_s, submitted_s - ended_s);
    waits[i] = until_s - std::exchange(waited_s, until_s);
  }
  return waits;
}

}  // namespace

void add_host(Step& step, const Architecture& model, const Task& task) {
  if (!launched_by_pytorch(task)) return;
  const auto expected = waits_s(step, task, task.host_launch_s),
             low = waits_s(step, task, 0.5 * task.host_launch_s),
             high = waits_s(step, task, 1.5 * task.host_launch_s);
  bool waits = false;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] <= 0) continue;
    waits = true;
    StepOperation wait = named("waits for the host", "host");
    wait.direction = kStepSegments[i].direction;
    place(wait, kStepSegments[i].section, task, 0, model.layers);
    Duration each{expected[i], std::min(expected[i], low[i]), std::max(expected[i], high[i])};
    each.scale(1 / wait.count);
    step.add_operation(wait, each);
  }
  if (!waits) return;
  step.notes.push_back(message("the GPU waits for the host, which submits a launch in ",
                               si_text(task.host_launch_s, "s"),
                               ": larger batches and CUDA graphs wait less"));
}

}  // namespace roofcast::transformer
