#include "model/transformer/step_transfers.hpp"

#include <algorithm>
#include <string>

#include "model/counting/integers.hpp"
#include "model/transformer/collective.hpp"
#include "model/transformer/step_layers.hpp"
#include "model/transformer/step_program.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast::transformer {
namespace {

/// GPUs that share a layer's weights, and those that have the same ones, with how far they are
/// apart.
struct Copies {
  double gathered, reduced, gathered_apart, reduced_apart;
};

class Transfers {
 public:
  Transfers(Step& step, const Architecture& model, const Task& task, const Gpu& gpu)
      : step_(step), model_(model), task_(task), gpu_(gpu) {}

  // After attention and after the feed-forward part.
  void add_tensor_parallel() {
    const Transfer sum{Collective::all_reduce,
                       task_.tokens() * as_double(model_.hidden) * task_.activation_bytes(),
                       as_double(task_.tp)};
    for (const Direction direction : directions()) {
      const StepOperation one = operation("tensor-parallel sums", direction, 0, sum);
      add(one, last_of("attention products", direction));
      add(one, step_.operations.size());
    }
  }

  void add_expert_parallel() {
    if (!model_.experts) return;
    const Transfer rows{Collective::alltoall,
                        task_.tokens() * model_.experts->per_token * as_double(model_.hidden) *
                            task_.activation_bytes() / as_double(task_.tp),
                        as_double(expert_group(task_).copies), as_double(task_.tp)};
    const auto first = static_cast<std::int64_t>(model_.experts->dense_layers);
    for (const Direction direction : directions()) {
      const StepOperation one = operation("rows to experts and back", direction, first, rows);
      add(one, last_of("router", direction));
      add(one, last_of("experts", direction));
    }
  }

  void add_data_parallel() {
    const double of_layer =
        size_bytes(task_.dtype) / as_double(task_.tp) / as_double(model_.layers);
    const double experts = parameters_of_experts(model_);
    const double copies = as_double(expert_group(task_).copies);
    const double fsdp = as_double(task_.fsdp), dp = as_double(task_.dp), tp = as_double(task_.tp);
    const double gathered = std::max(1.0, fsdp / copies);
    add_weights((count_parameters(model_).total - experts) * of_layer, {fsdp, dp, tp, tp * fsdp});
    add_weights(experts / copies * of_layer,
                {gathered, dp * fsdp / copies / gathered, tp * copies, tp * copies * gathered});
  }

 private:
  std::vector<Direction> directions() const {
    if (task_.phase != Phase::train) return {Direction::forward};
    if (task_.checkpointing != Checkpointing::full) {
      return {Direction::forward, Direction::backward};
    }
    return {Direction::forward, Direction::again, Direction::backward};
  }

  StepOperation operation(std::string_view part, Direction direction, std::int64_t first_layer,
                          const Transfer& transfer) const {
    StepOperation one;
    one.part = part;
    one.direction = direction;
    one.bound = "link";
    one.first_layer = first_layer;
    one.last_layer = model_.layers;
    one.count = task_.passes() * as_double(model_.layers - first_layer);
    one.transfer = transfer;
    return one;
  }

  // Of the weights of a layer, `bytes` gathered.
  void add_weights(double bytes, const Copies& copies) {
    const bool train = task_.phase == Phase::train;
    const auto add_beside = [&](Direction direction, Order order, const Transfer& transfer) {
      StepOperation one = operation(kWeightsBetweenGpus, direction, 0, transfer);
      one.order = order;
      one.last_pass = transfer.kind == Collective::all_reduce;
      if (one.last_pass) one.count = as_double(model_.layers);
      add(one, step_.operations.size());
    };
    const Transfer gather{Collective::all_gather, bytes, copies.gathered, copies.gathered_apart};
    add_beside(Direction::forward, Order::before_layer, gather);
    if (!train) return;
    add_beside(Direction::backward, Order::before_layer, gather);
    add_beside(Direction::backward, Order::after_layer,
               {Collective::reduce_scatter, bytes, copies.gathered, copies.gathered_apart});
    add_beside(
        Direction::backward, Order::after_layer,
        {Collective::all_reduce, bytes / copies.gathered, copies.reduced, copies.reduced_apart});
  }

  /// The position after the last operation of a part.
  std::size_t last_of(std::string_view part, Direction direction) const {
    for (std::size_t i = step_.operations.size(); i-- > 0;) {
      const StepOperation& one = step_.operations[i];
      if (one.part == part && one.direction == direction) return i + 1;
    }
    return step_.operations.size();
  }

  void add(StepOperation one, std::size_t position) {
    const Transfer& transfer = *one.transfer;
    if (transfer.gpus < 2 || one.count <= 0 || transfer.bytes <= 0) return;
    const CollectiveForecast time = predict_collective(transfer, gpu_, task_.network);
    one.what = "collective." + std::string(name(transfer.kind)) + " " +
               si_text(transfer.bytes, "B") +
               " gpus=" + std::to_string(static_cast<std::int64_t>(transfer.gpus));
    one.use = use_of(transfer, time.expected_s, gpu_);
    one.alone_s = one.time_s = one.count * time.expected_s;
    if (one.order == Order::in_turn) step_.limit_s += one.count * time.limit_s;
    StepPart& part = step_.part(one.part);
    part.add(one.count, time);
    part.bound = one.bound;
    step_.operations.insert(step_.operations.begin() + static_cast<std::ptrdiff_t>(position),
                            std::move(one));
  }

  Step& step_;
  const Architecture& model_;
  const Task& task_;
  const Gpu& gpu_;
};

/// A step as its schedules have it.
struct Scheduled {
  std::vector<double> time_s;  ///< of each operation in turn
  double total_s = 0;
};

/// With the transfers beside launches taking so many times as long as expected.
Scheduled scheduled(const Step& step, const Architecture& model, const Task& task, double times) {
  Scheduled sum{std::vector<double>(step.operations.size()), 0};
  const auto add = [&](Pass pass, double passes) {
    if (passes <= 0) return;
    Program program = step_program(step, model, task, pass, false);
    for (Node& node : program.beside) node.alone_s *= times;
    const Schedule when = schedule(program);
    for (std::size_t i = 0; i < program.chain.size(); ++i) {
      sum.time_s[program.chain[i].operation] += passes * when.chain[i].duration_s();
    }
    sum.total_s += passes * when.total_s;
  };
  add(Pass::earlier, task.passes() - 1);
  add(Pass::last, 1);
  return sum;
}

/// What no operation in turn runs in.
double exposed_s(const Scheduled& all) {
  double rest_s = all.total_s;
  for (const double time_s : all.time_s) rest_s -= time_s;
  constexpr double kRounding = 1e-12;
  return rest_s > kRounding * all.total_s ? rest_s : 0;
}

void set_times(StepPart& part, double expected_s, double low_s, double high_s) {
  part.expected_s = expected_s;
  part.low_s = std::min(low_s, expected_s);
  part.high_s = std::max(high_s, expected_s);
}

}  // namespace

void add_transfers(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  Transfers transfers(step, model, task, gpu);
  transfers.add_tensor_parallel();
  transfers.add_expert_parallel();
  transfers.add_data_parallel();
}

void overlap(Step& step, const Architecture& model, const Task& task) {
  const auto beside = std::find_if(step.parts.begin(), step.parts.end(), [](const StepPart& one) {
    return one.name == kWeightsBetweenGpus;
  });
  if (beside == step.parts.end()) return;
  const double alone_s = beside->expected_s;
  const Scheduled expected = scheduled(step, model, task, 1);
  const double shown_s = exposed_s(expected);
  set_times(*beside, shown_s, exposed_s(scheduled(step, model, task, beside->low_s / alone_s)),
            exposed_s(scheduled(step, model, task, beside->high_s / alone_s)));
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    StepOperation& one = step.operations[i];
    if (one.order != Order::in_turn) {
      one.time_s = one.alone_s * shown_s / alone_s;
      continue;
    }
    one.time_s = std::max(one.alone_s, expected.time_s[i]);
    if (!one.transfer) step.transfers.slowed_s += one.time_s - one.alone_s;
  }
  for (StepPart& part : step.parts) {
    if (part.name == kWeightsBetweenGpus) continue;
    double time_s = 0;
    for (const StepOperation& one : step.operations) {
      if (one.part == part.name) time_s += one.time_s;
    }
    const double longer = part.expected_s > 0 ? time_s / part.expected_s : 1;
    set_times(part, time_s, longer * part.low_s, longer * part.high_s);
  }
}

}  // namespace roofcast::transformer
