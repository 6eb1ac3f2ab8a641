// The GPU waits for the host where that submits launches more slowly than the GPU runs them.
#include <algorithm>
#include <array>

#include "model/counting/integers.hpp"
#include "model/transformer/step_composer.hpp"
#include "model/types/problem.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

/// Operations that run one after the other: those of a section in one direction.
struct Stretch {
  Section section;
  bool backward;

  bool has(const StepOperation& one) const {
    return one.section == section && (one.direction != Direction::forward) == backward;
  }
};
constexpr std::array<Stretch, 7> kStretches = {{{Section::begin, false},
                                                {Section::layer, false},
                                                {Section::end, false},
                                                {Section::end, true},
                                                {Section::layer, true},
                                                {Section::begin, true},
                                                {Section::once, false}}};

/// Time for which the GPU has waited for the host by the end of each stretch. The host takes
/// `launch_s` to submit a launch, twice that where it also records the operation for the backward
/// pass, and begins a step when the GPU has ended the step before. A launch runs once it is
/// submitted and the one before has ended:
///   T = max over the launches of (submission of all up to it + time of it and all after it).
/// Within a stretch, all passes together, both grow evenly: the maximum is at the end of one.
std::array<double, kStretches.size()> waits_for_host_s(const Step& step, const Task& task,
                                                       double launch_s) {
  std::array<double, kStretches.size()> waits_s{};
  double submitted_s = 0, ended_s = 0, wait_s = 0;
  for (std::size_t i = 0; i < kStretches.size(); ++i) {
    const auto& [section, backward] = kStretches[i];
    const bool records = task.phase == Phase::train && !backward && section != Section::once;
    for (const StepOperation& one : step.operations) {
      if (!kStretches[i].has(one) || one.order != Order::in_turn) continue;
      submitted_s += one.launches * launch_s * (records ? 2 : 1);
      ended_s += one.expected_s;
    }
    waits_s[i] = wait_s = std::max(wait_s, submitted_s - ended_s);
  }
  return waits_s;
}

}  // namespace

void add_host(Step& step, const Architecture& model, const Task& task) {
  if (!launched_by_pytorch(task)) return;
  const auto waits_s = [&](double share) {
    return waits_for_host_s(step, task, share * task.host_launch_s);
  };
  const auto low_s = waits_s(0.5), expected_s = waits_s(1), high_s = waits_s(1.5);
  if (expected_s.back() <= 0) return;
  for (std::size_t i = 0; i < kStretches.size(); ++i) {
    const auto in_stretch = [i](const auto& until_s) {
      return until_s[i] - (i > 0 ? until_s[i - 1] : 0);
    };
    const double here_s = in_stretch(expected_s);
    if (here_s <= 0) continue;
    StepOperation wait = named("waits for the host", "host");
    wait.section = kStretches[i].section;
    if (kStretches[i].backward) wait.direction = Direction::backward;
    wait.last_layer = model.layers;
    wait.count = wait.section == Section::once ? 1 : task.passes();
    if (wait.section == Section::layer) wait.count *= as_double(model.layers);
    Duration each{here_s, std::min(here_s, in_stretch(low_s)),
                  std::max(here_s, in_stretch(high_s))};
    each.scale(1 / wait.count);
    step.add_operation(wait, each);
  }
  step.notes.push_back(message("the GPU waits for the host, which submits a launch in ",
                               si_text(task.host_launch_s, "s"),
                               ": larger batches and CUDA graphs wait less"));
}

}  // namespace roofcast::transformer
