#include "model/transformer/pipeline.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/transformer/collective.hpp"
#include "model/transformer/step_layers.hpp"

namespace roofcast::transformer {
namespace {

// Those that one stage has alone, and that of a stage's own parameters.
constexpr std::array<std::string_view, 4> kOfOneStage = {"embedding", "vocabulary product", "loss",
                                                         kOptimizer};

template <std::size_t kCount>
bool is_one_of(std::string_view name, const std::array<std::string_view, kCount>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A part of its own, once a step.
void add_operation(Step& step, const StepPart& part, double count) {
  StepOperation one{part.name, part.name, Section::once};
  one.count = count;
  one.time_s = one.alone_s = part.expected_s;
  one.bound = part.bound;
  step.operations.push_back(std::move(one));
  step.parts.push_back(part);
}

}  // namespace

void put_in_stages(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  if (task.pp < 2) return;
  const double stages = as_double(task.pp), passes = task.passes();
  // Once a step, not once a pass.
  constexpr std::array<std::string_view, 2> kOnce = {kOptimizer, kWeightsBetweenGpus};
  StepPart bubble{{}, "pipeline bubble", "pipeline"};
  for (StepPart& part : step.parts) {
    if (!is_one_of(part.name, kOfOneStage)) part.scale(1 / stages);
    if (!is_one_of(part.name, kOnce)) bubble.add((stages - 1) / passes, part);
  }
  for (StepOperation& one : step.operations) {
    if (is_one_of(one.part, kOfOneStage)) continue;
    one.time_s /= stages;
    one.alone_s /= stages;
    one.count /= stages;
  }
  step.transfers.slowed_s /= stages;
  step.limit_s /= stages;  // the mean of the stages', which the longest is not under
  const double bytes = task.tokens() * as_double(model.hidden) * task.activation_bytes();
  const Transfer on{Collective::send_recv, bytes, 2, as_double(task.tp * task.dp * task.fsdp)};
  const CollectiveForecast one = predict_collective(on, gpu, task.network);
  StepPart between{{}, "between stages", "link"};
  const double times = 2 * (passes + stages - 1);  // activations on, gradients back
  between.add(times, one);
  add_operation(step, between, times);
  step.operations.back().transfer = on;
  add_operation(step, bubble, 1);
}

}  // namespace roofcast::transformer
