#include <algorithm>
#include <string>
#include <utility>

#include "model/transformer/step_composer.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

// GPUs of fsdp share a layer's weights, those of dp have the same ones; experts lie on `copies`.
class WeightsComposer : public Composer {
 public:
  using Composer::Composer;

  void compose() {
    at_layers(0, model_.layers);
    const double fsdp = as_double(task_.fsdp), dp = as_double(task_.dp);
    const double copies = as_double(expert_group(task_).copies);
    const double gathered = std::max(1.0, fsdp / copies);
    const double of_layer = size_bytes(task_.dtype) / tp_ / as_double(model_.layers);
    const ParameterCounts counts = count_parameters(model_);
    const double rest = (counts.unrouted() + counts.ends()) * of_layer;
    const double experts = counts.routed / copies * of_layer;
    add_weights({Collective::all_gather, rest, fsdp, tp_},
                {Collective::all_reduce, rest / fsdp, dp, tp_ * fsdp});
    add_weights({Collective::all_gather, experts, gathered, tp_ * copies},
                {Collective::all_reduce, experts / gathered, dp * fsdp / copies / gathered,
                 tp_ * copies * gathered});
  }

 private:
  // The weights of a layer are gathered, their gradients scattered, and what copies have summed.
  void add_weights(Transfer weights, const Transfer& summed) {
    forward(false, [&] { send(kWeightsBetweenGpus, weights, Order::before_layer); });
    backward([&] {
      send(kWeightsBetweenGpus, weights, Order::before_layer);
      weights.kind = Collective::reduce_scatter;
      send(kWeightsBetweenGpus, weights, Order::after_layer);
      send(kWeightsBetweenGpus, summed, Order::after_layer, true);
    });
  }
};

}  // namespace

void Composer::send(std::string_view part, const Transfer& transfer, Order order, bool last_pass) {
  StepOperation one = here_;
  if (last_pass) one.count /= task_.passes();
  if (transfer.gpus < 2 || one.count <= 0 || transfer.bytes <= 0) return;
  const Gpu& gpu = forecasts_.gpu();
  const CollectiveForecast time = predict_collective(transfer, gpu, task_.network);
  one.part = part;
  one.what = "collective." + std::string(name(transfer.kind)) + " " + si_text(transfer.bytes, "B") +
             " gpus=" + std::to_string(static_cast<std::int64_t>(transfer.gpus));
  one.bound = "link";
  one.use = use_of(transfer, time.expected_s, gpu);
  one.transfer = transfer;
  one.order = order;
  one.last_pass = last_pass;
  if (order == Order::in_turn) step_.limit_s += one.count * time.limit_s;
  step_.add_operation(std::move(one), time);
}

void add_weight_transfers(Step& step, const Architecture& model, const Task& task,
                          KernelForecasts& forecasts) {
  WeightsComposer(step, model, task, forecasts).compose();
}

}  // namespace roofcast::transformer
