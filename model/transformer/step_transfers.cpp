#include <algorithm>
#include <initializer_list>
#include <string>

#include "model/counting/integers.hpp"
#include "model/transformer/step_parts.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

class Transfers {
 public:
  Transfers(Step& step, const Architecture& model, const Task& task, const Gpu& gpu)
      : step_(step), model_(model), task_(task), gpu_(gpu) {}

  // After attention and after the feed-forward part.
  void add_tensor_parallel() {
    const Transfer sum{Collective::all_reduce, row_bytes() * task_.tokens(), as_double(task_.tp)};
    in_turn([&](Direction direction) {
      const StepOperation one = operation("tensor-parallel sums", direction, sum);
      add(one, last_of("attention products", direction));
      add(one);
    });
  }

  void add_expert_parallel() {
    if (!model_.experts) return;
    const double rows = task_.tokens() * model_.experts->per_token / as_double(task_.tp);
    const Transfer transfer{Collective::alltoall, row_bytes() * rows,
                            as_double(expert_group(task_).copies), as_double(task_.tp)};
    const auto first = static_cast<std::int64_t>(model_.experts->dense_layers);
    in_turn([&](Direction direction) {
      const StepOperation one = operation("rows to experts and back", direction, transfer, first);
      add(one, last_of("router", direction));
      add(one, last_of("experts", direction));
    });
  }

  // GPUs of fsdp share a layer's weights, those of dp have the same ones; experts lie on `copies`.
  void add_data_parallel() {
    const double fsdp = as_double(task_.fsdp), dp = as_double(task_.dp), tp = as_double(task_.tp);
    const double copies = as_double(expert_group(task_).copies);
    const double gathered = std::max(1.0, fsdp / copies);
    const double of_layer = size_bytes(task_.dtype) / tp / as_double(model_.layers);
    const ParameterCounts counts = count_parameters(model_);
    const double rest = (counts.total - counts.routed) * of_layer;
    const double experts = counts.routed / copies * of_layer;
    add_weights({Collective::all_gather, rest, fsdp, tp},
                {Collective::all_reduce, rest / fsdp, dp, tp * fsdp});
    add_weights({Collective::all_gather, experts, gathered, tp * copies},
                {Collective::all_reduce, experts / gathered, dp * fsdp / copies / gathered,
                 tp * copies * gathered});
  }

 private:
  double row_bytes() const { return as_double(model_.hidden) * task_.activation_bytes(); }

  template <class Add>
  void in_turn(const Add& add) {
    add(Direction::forward);
    if (task_.phase != Phase::train) return;
    if (task_.checkpointing == Checkpointing::full) add(Direction::again);
    add(Direction::backward);
  }

  StepOperation operation(std::string_view part, Direction direction, const Transfer& transfer,
                          std::int64_t first_layer = 0) const {
    StepOperation one{.part = std::string(part), .direction = direction, .bound = "link"};
    one.first_layer = first_layer;
    one.last_layer = model_.layers;
    one.count = task_.passes() * as_double(model_.layers - first_layer);
    one.transfer = transfer;
    return one;
  }

  // The weights of a layer are gathered, their gradients scattered, and what copies have summed.
  void add_weights(Transfer weights, const Transfer& summed) {
    const auto add_beside = [&](Direction direction, Order order, const Transfer& transfer) {
      StepOperation one = operation(kWeightsBetweenGpus, direction, transfer);
      one.order = order;
      one.last_pass = transfer.kind == Collective::all_reduce;
      if (one.last_pass) one.count = as_double(model_.layers);
      add(one);
    };
    add_beside(Direction::forward, Order::before_layer, weights);
    if (task_.phase != Phase::train) return;
    add_beside(Direction::backward, Order::before_layer, weights);
    weights.kind = Collective::reduce_scatter;
    add_beside(Direction::backward, Order::after_layer, weights);
    add_beside(Direction::backward, Order::after_layer, summed);
  }

  /// The position after the last operation of a part.
  std::size_t last_of(std::string_view part, Direction direction) const {
    for (std::size_t i = step_.operations.size(); i-- > 0;) {
      const StepOperation& one = step_.operations[i];
      if (one.part == part && one.direction == direction) return i + 1;
    }
    return kNothing;
  }

  void add(StepOperation one, std::size_t position = kNothing) {
    const Transfer& transfer = *one.transfer;
    if (transfer.gpus < 2 || one.count <= 0 || transfer.bytes <= 0) return;
    const CollectiveForecast time = predict_collective(transfer, gpu_, task_.network);
    one.what = "collective." + std::string(name(transfer.kind)) + " " +
               si_text(transfer.bytes, "B") +
               " gpus=" + std::to_string(static_cast<std::int64_t>(transfer.gpus));
    one.use = use_of(transfer, time.expected_s, gpu_);
    if (one.order == Order::in_turn) step_.limit_s += one.count * time.limit_s;
    step_.add_operation(std::move(one), time, position);
  }

  Step& step_;
  const Architecture& model_;
  const Task& task_;
  const Gpu& gpu_;
};

}  // namespace

void add_transfers(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  Transfers transfers(step, model, task, gpu);
  transfers.add_tensor_parallel();
  transfers.add_expert_parallel();
  transfers.add_data_parallel();
}

}  // namespace roofcast::transformer
