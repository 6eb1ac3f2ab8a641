// The GPU waits for the host if launches are submitted more slowly than they run.
#include <algorithm>
#include <array>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/transformer/step_composer.hpp"
#include "model/types/problem.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {

// The host submits a launch in `host_launch_s`, twice that if it also records the operation for the
// backward pass, and starts a step when the GPU has ended the one before. A launch runs once it is
// submitted and the launch before has ended:
//   T = max over the launches of (submission of all up to it + time of it and all after it).
// Within a segment, all passes together, both grow evenly: the maximum is at an end of one.
void add_host(Step& step, const Architecture& model, const Task& task) {
  if (!launched_by_pytorch(task)) return;
  constexpr std::array kHosts = {1.0, 0.5, 1.5};  // relative times: expected, low, high
  std::array<double, kHosts.size()> submitted_s{}, waited_s{};
  double ended_s = 0;
  for (const StepSegment& here : kStepSegments) {
    const bool records =
        task.phase == Phase::train && here.is_forward() && here.section != Section::once;
    for (const StepOperation& one : step.operations) {
      if (!here.has(one) || one.order != Order::in_turn) continue;
      ended_s += one.expected_s;
      for (std::size_t i = 0; i < kHosts.size(); ++i) {
        submitted_s[i] += one.launches * (kHosts[i] * task.host_launch_s) * (records ? 2 : 1);
      }
    }
    std::array<double, kHosts.size()> here_s{};
    for (std::size_t i = 0; i < kHosts.size(); ++i) {
      const double until_s = std::max(waited_s[i], submitted_s[i] - ended_s);
      here_s[i] = until_s - std::exchange(waited_s[i], until_s);
    }
    const auto [expected_s, low_s, high_s] = here_s;
    if (expected_s <= 0) continue;
    StepOperation wait = named("waits for the host", "host");
    wait.section = here.section;
    wait.direction = here.direction;
    wait.last_layer = model.layers;
    wait.count = wait.section == Section::once ? 1 : task.passes();
    if (wait.section == Section::layer) wait.count *= as_double(model.layers);
    Duration each{expected_s, std::min(expected_s, low_s), std::max(expected_s, high_s)};
    each.scale(1 / wait.count);
    step.add_operation(wait, each);
  }
  if (waited_s.front() <= 0) return;
  step.notes.push_back(message("the GPU waits for the host, which submits a launch in ",
                               si_text(task.host_launch_s, "s"),
                               ": larger batches and CUDA graphs wait less"));
}

}  // namespace roofcast::transformer
