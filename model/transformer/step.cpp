#include "model/transformer/step.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/laws/peaks.hpp"
#include "model/transformer/pipeline.hpp"
#include "model/transformer/step_layers.hpp"
#include "model/transformer/step_transfers.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

// Nothing was fitted to other steps: hooks of each layer are those of FSDP, the attention is flash.
bool has_software(const Task& task) {
  return task.framework == Framework::eager && task.phase == Phase::train && task.fsdp > 1 &&
         task.dtype != DType::fp32;
}

void add_software(Step& step, const Architecture& model, const Task& task,
                  const SoftwareConstants& software) {
  if (task.framework == Framework::ideal) return;
  if (!has_software(task)) {
    step.notes.emplace_back(
        "without what software adds: it was measured for eager FSDP training in 16 bits alone");
    return;
  }
  double time_s = software.layer_s * task.layer_passes() * as_double(model.layers);
  for (const StepPart& part : step.parts) {
    if (part.name == kAttention) time_s += software.attention_share * part.expected_s;
  }
  if (time_s <= 0) return;
  step.parts.push_back({{time_s, time_s / 2, time_s * 1.5}, "software", "host"});
  StepOperation each{"software", "software"};
  each.count = task.layer_passes() * as_double(model.layers);
  each.bound = "host";
  each.last_layer = model.layers;
  const auto add = [&](Direction direction, double share) {
    each.direction = direction;
    each.time_s = each.alone_s = share * time_s;
    step.operations.push_back(each);
  };
  add(Direction::forward, 0.5);
  add(Direction::backward, 0.5);
}

// FLOPs of a token that the backward pass computes again: a third of all, or the product of queries
// and keys where scores lie in memory.
double computed_again(const Architecture& model, const Task& task) {
  if (task.phase != Phase::train || task.checkpointing == Checkpointing::none) return 0;
  if (task.checkpointing == Checkpointing::full) {
    return training_flops_per_token(model, as_double(task.seq)) / 3;
  }
  if (task.dtype != DType::fp32) return 0;
  return 2 * as_double(model.layers * model.heads * model.head_dim * task.seq);
}

void add_up_transfers(Step& step) {
  StepTransfers& sum = step.transfers;
  for (const StepOperation& one : step.operations) {
    if (!one.transfer) continue;
    sum.alone_s += one.alone_s;
    sum.exposed_s += one.time_s;
  }
  sum.hidden_s = std::max(0.0, sum.alone_s - sum.exposed_s);
}

void total(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  for (const StepPart& part : step.parts) step.add(1, part);
  const double tokens = task.passes() * task.tokens() * as_double(task.dp * task.fsdp);
  step.tokens_per_s = tokens / step.expected_s;
  const double keys = as_double(task.phase == Phase::decode ? task.context : task.seq);
  const double flops =
      training_flops_per_token(model, keys) * (task.phase == Phase::train ? 1 : 1.0 / 3);
  const auto clock = gpu.clocks.tensor_boost_hz;
  const auto tensor = clock ? tensor_peak_flops_per_s(gpu, task.dtype, *clock) : std::nullopt;
  const auto vector = gpu.clocks.vector_boost_hz
                          ? vector_peak_flops_per_s(gpu, task.dtype, *gpu.clocks.vector_boost_hz)
                          : std::nullopt;
  if (const auto peak = tensor ? tensor : vector) {
    step.mfu = step.tokens_per_s * flops / (*peak * task.gpus());
    step.hfu = step.mfu * (1 + computed_again(model, task) / flops);
  }
}

}  // namespace

StepPart& Step::part(std::string_view name) {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [&](const StepPart& one) { return one.name == name; });
  return found != parts.end() ? *found : parts.emplace_back(StepPart{{}, std::string(name), ""});
}

Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu,
                  const SoftwareConstants& software) {
  KernelForecasts forecasts(gpu);
  return predict_step(model, task, forecasts, software);
}

Step predict_step(const Architecture& model, const Task& task, KernelForecasts& forecasts,
                  const SoftwareConstants& software) {
  check(model, task);
  const Gpu& gpu = forecasts.gpu();
  StepKernels kernels(forecasts, task.dtype);
  add_layers(model, task, kernels);
  Step step = std::move(kernels).step();
  add_software(step, model, task, software);
  add_transfers(step, model, task, gpu);
  overlap(step, model, task);
  put_in_stages(step, model, task, gpu);
  add_up_transfers(step);
  total(step, model, task, gpu);
  return step;
}

}  // namespace roofcast::transformer
