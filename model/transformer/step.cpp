#include "model/transformer/step.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "model/laws/peaks.hpp"
#include "model/transformer/collective.hpp"
#include "model/transformer/pipeline.hpp"
#include "model/transformer/step_layers.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

void add_collective(StepPart& part, double times, Collective collective, double bytes, double gpus,
                    const Gpu& gpu) {
  if (gpus < 2 || times <= 0 || bytes <= 0) return;
  const CollectiveForecast one = predict_collective(collective, bytes, gpus, gpu);
  part.time_s += times * one.expected_s;
  part.low_s += times * one.low_s;
  part.high_s += times * one.high_s;
}

// Sums of partial results between the products of a layer: nothing hides them.
StepPart tensor_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"tensor-parallel sums", 0, 0, 0, "link"};
  const bool train = task.phase == Phase::train;
  const double passes = train ? real(task.grad_accum) * (task.checkpointing ? 3 : 2) : 1;
  add_collective(part, 2 * passes * real(model.layers), Collective::all_reduce,
                 task.tokens() * real(model.hidden) * task.activation_bytes(), real(task.tp), gpu);
  return part;
}

// Rows to their experts and back, between the GPUs that share them: nothing hides them.
StepPart expert_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"rows to experts and back", 0, 0, 0, "link"};
  if (!model.experts) return part;
  const bool train = task.phase == Phase::train;
  const double passes = train ? real(task.grad_accum) * (task.checkpointing ? 3 : 2) : 1;
  const double layers = real(model.layers) - model.experts->dense_layers;
  const double bytes = task.tokens() * model.experts->per_token * real(model.hidden) *
                       task.activation_bytes() / real(task.tp);
  add_collective(part, 2 * passes * layers, Collective::alltoall, bytes,
                 real(expert_group(task).copies), gpu);
  return part;
}

/// GPUs that share a layer's weights, and those that have the same ones.
struct Copies {
  double gathered, reduced;
};

// Of the weights of a layer, `bytes` gathered.
void add_weights(StepPart& part, const Architecture& model, const Task& task, double bytes,
                 const Copies& copies, const Gpu& gpu) {
  const bool train = task.phase == Phase::train;
  const double passes = train ? real(task.grad_accum) : 1;
  const double layers = real(model.layers);
  add_collective(part, (train ? 2 : 1) * passes * layers, Collective::all_gather, bytes,
                 copies.gathered, gpu);
  if (!train) return;
  add_collective(part, passes * layers, Collective::reduce_scatter, bytes, copies.gathered, gpu);
  add_collective(part, layers, Collective::all_reduce, bytes / copies.gathered, copies.reduced,
                 gpu);
}

// Gradients and weights, layer by layer beside the arithmetic. GPUs that share the experts have the
// same ones as few others.
StepPart data_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{std::string(kWeightsBetweenGpus), 0, 0, 0, "link"};
  const double of_layer = size_bytes(task.dtype) / real(task.tp) / real(model.layers);
  const double experts = parameters_of_experts(model);
  const double copies = real(expert_group(task).copies);
  const double fsdp = real(task.fsdp), dp = real(task.dp);
  const double gathered = std::max(1.0, fsdp / copies);
  add_weights(part, model, task, (count_parameters(model).total - experts) * of_layer, {fsdp, dp},
              gpu);
  add_weights(part, model, task, experts / copies * of_layer,
              {gathered, dp * fsdp / copies / gathered}, gpu);
  return part;
}

double sum_of(const std::vector<StepPart>& parts) {
  double sum = 0;
  for (const StepPart& part : parts) sum += part.time_s;
  return sum;
}

StepPart scaled(StepPart part, double share) {
  part.time_s *= share;
  part.low_s *= share;
  part.high_s *= share;
  return part;
}

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
  const double passes = real(task.grad_accum) * (task.checkpointing ? 3 : 2);
  double time_s = software.layer_s * passes * real(model.layers);
  for (const StepPart& part : step.parts) {
    if (part.name == kAttention) time_s += software.attention_share * part.time_s;
  }
  if (time_s > 0) step.parts.push_back({"software", time_s, time_s / 2, time_s * 1.5, "host"});
}

void total(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  for (const StepPart& part : step.parts) {
    step.expected_s += part.time_s;
    step.low_s += part.low_s;
    step.high_s += part.high_s;
  }
  const double passes = task.phase == Phase::train ? real(task.grad_accum) : 1;
  const double tokens = passes * task.tokens() * real(task.dp * task.fsdp);
  step.tokens_per_s = tokens / step.expected_s;
  const double keys = real(task.phase == Phase::decode ? task.context : task.seq);
  const double flops =
      training_flops_per_token(model, keys) * (task.phase == Phase::train ? 1 : 1.0 / 3);
  const auto clock = gpu.clocks.tensor_boost_hz;
  const auto tensor = clock ? tensor_peak_flops_per_s(gpu, task.dtype, *clock) : std::nullopt;
  const auto vector = gpu.clocks.vector_boost_hz
                          ? vector_peak_flops_per_s(gpu, task.dtype, *gpu.clocks.vector_boost_hz)
                          : std::nullopt;
  if (const auto peak = tensor ? tensor : vector) {
    step.mfu = step.tokens_per_s * flops / (*peak * task.gpus());
    step.hfu =
        step.mfu * (task.checkpointing ? 4.0 / 3 : 1);  // three forwards' work, and one again
  }
}

}  // namespace

Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu,
                  const SoftwareConstants& software) {
  check(model, task);
  Step step;
  step.parts = parts_of_layers(model, task, gpu);
  add_software(step, model, task, software);
  const double compute_s = sum_of(step.parts);
  StepPart sums = tensor_parallel(model, task, gpu);
  if (sums.time_s > 0) step.parts.push_back(std::move(sums));
  StepPart exchanged = expert_parallel(model, task, gpu);
  if (exchanged.time_s > 0) step.parts.push_back(std::move(exchanged));
  StepPart beside = data_parallel(model, task, gpu);
  if (beside.time_s > 0) {
    const double hidden = std::min(1.0, compute_s / beside.time_s);
    const double least = has_software(task) ? software.exposed : 0;
    const double shown = std::max(1 - hidden, least);
    if (shown > 0) step.parts.push_back(scaled(std::move(beside), shown));
  }
  put_in_stages(step, model, task, gpu);
  total(step, model, task, gpu);
  return step;
}

}  // namespace roofcast::transformer
