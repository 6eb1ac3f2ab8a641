#include "model/transformer/step_transfers.hpp"

#include <algorithm>
#include <string>

#include "model/transformer/collective.hpp"
#include "model/transformer/step_layers.hpp"

namespace roofcast::transformer {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

/// What the collectives run over.
struct Site {
  const Gpu& gpu;
  const Network& network;
};

void add_collective(StepPart& part, double times, Collective collective, double bytes, double gpus,
                    const Site& site) {
  if (gpus < 2 || times <= 0 || bytes <= 0) return;
  const CollectiveForecast one =
      predict_collective(collective, bytes, gpus, site.gpu, site.network);
  part.limit_s += times * one.limit_s;
  part.time_s += times * one.expected_s;
  part.low_s += times * one.low_s;
  part.high_s += times * one.high_s;
}

/// GPUs that share a layer's weights, and those that have the same ones.
struct Copies {
  double gathered, reduced;
};

// Of the weights of a layer, `bytes` gathered.
void add_weights(StepPart& part, const Architecture& model, const Task& task, double bytes,
                 const Copies& copies, const Site& site) {
  const bool train = task.phase == Phase::train;
  const double passes = train ? real(task.grad_accum) : 1;
  const double layers = real(model.layers);
  add_collective(part, (train ? 2 : 1) * passes * layers, Collective::all_gather, bytes,
                 copies.gathered, site);
  if (!train) return;
  add_collective(part, passes * layers, Collective::reduce_scatter, bytes, copies.gathered, site);
  add_collective(part, layers, Collective::all_reduce, bytes / copies.gathered, copies.reduced,
                 site);
}

}  // namespace

StepPart tensor_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"tensor-parallel sums", 0, 0, 0, "link"};
  add_collective(part, 2 * task.layer_passes() * real(model.layers), Collective::all_reduce,
                 task.tokens() * real(model.hidden) * task.activation_bytes(), real(task.tp),
                 {gpu, task.network});
  return part;
}

StepPart expert_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"rows to experts and back", 0, 0, 0, "link"};
  if (!model.experts) return part;
  const double layers = real(model.layers) - model.experts->dense_layers;
  const double bytes = task.tokens() * model.experts->per_token * real(model.hidden) *
                       task.activation_bytes() / real(task.tp);
  add_collective(part, 2 * task.layer_passes() * layers, Collective::alltoall, bytes,
                 real(expert_group(task).copies), {gpu, task.network});
  return part;
}

StepPart data_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{std::string(kWeightsBetweenGpus), 0, 0, 0, "link"};
  const double of_layer = size_bytes(task.dtype) / real(task.tp) / real(model.layers);
  const double experts = parameters_of_experts(model);
  const double copies = real(expert_group(task).copies);
  const double fsdp = real(task.fsdp), dp = real(task.dp);
  const double gathered = std::max(1.0, fsdp / copies);
  add_weights(part, model, task, (count_parameters(model).total - experts) * of_layer, {fsdp, dp},
              {gpu, task.network});
  add_weights(part, model, task, experts / copies * of_layer,
              {gathered, dp * fsdp / copies / gathered}, {gpu, task.network});
  return part;
}

}  // namespace roofcast::transformer
