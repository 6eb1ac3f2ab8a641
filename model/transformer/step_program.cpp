// Puts the operations of a pass on two streams: launches and transfers that overlap them.
#include <algorithm>
#include <numeric>
#include <utility>

#include "model/transformer/step_composer.hpp"

namespace roofcast::transformer {
namespace {

/// The nodes of a layer in one direction; backward starts with recomputation.
struct LayerNodes {
  Direction direction;
  std::int64_t layer;
  std::size_t begin, end;  ///< positions in Program::in_turn
};

/// Builds the program of a pass on one GPU: kStepSegments, with Section::once in the last pass
/// only. Software's time is spread evenly over layers.
class Builder {
 public:
  Builder(const Step& step, const Task& task, bool last) : step_(step), task_(task), last_(last) {}

  Program program() && {
    for (const StepSegment& here : kStepSegments) {
      if (here.section == Section::layer) {
        for (std::int64_t i = 0; i < step_.layers; ++i) {
          add_layer(here.direction, here.is_forward() ? i : step_.layers - 1 - i);
        }
      } else if (here.section != Section::once) {
        add(here.section, here.direction);
      }
    }
    add_beside();
    const std::size_t once = result_.in_turn.size();
    if (last_) add(Section::once, Direction::forward);
    if (once < result_.in_turn.size()) result_.in_turn[once].after = result_.beside.size();
    return std::move(result_);
  }

 private:
  void add_layer(Direction direction, std::int64_t layer) {
    const std::size_t begin = result_.in_turn.size();
    if (direction == Direction::backward) add(Section::layer, Direction::again, layer);
    add(Section::layer, direction, layer);
    passed_.push_back({direction, layer, begin, result_.in_turn.size()});
  }

  // Adds the overlapped transfers in the frameworks' order; each may start once a layer has ended.
  void add_beside() {
    add_gather(0, false, 0);
    add_gather(1, false, 0);
    for (std::size_t i = 0; i < passed_.size(); ++i) {
      const auto [direction, layer, begin, end] = passed_[i];
      add_gather(i + 1, true, end);
      add(Section::layer, direction, layer, Order::after_layer, end);
      add_gather(i + 2, false, end);
    }
  }

  // Gathers the weights that a layer waits for. With Prefetch::post, weights for backward are
  // gathered `late`: after the layer before it instead of during it.
  void add_gather(std::size_t position, bool late, std::size_t after) {
    if (position >= passed_.size()) return;
    const LayerNodes& nodes = passed_[position];
    const bool waits = task_.prefetch == Prefetch::post && nodes.direction == Direction::backward;
    if (late != waits) return;
    const std::size_t before = result_.beside.size();
    add(Section::layer, nodes.direction, nodes.layer, Order::before_layer, after);
    if (result_.beside.size() > before) result_.in_turn[nodes.begin].after = result_.beside.size();
  }

  // Adds operations that wait for `after` nodes of the other stream; gradients in reverse order.
  void add(Section section, Direction direction, std::int64_t layer = 0,
           Order order = Order::in_turn, std::size_t after = 0) {
    const bool in_turn = order == Order::in_turn, in_layer = section == Section::layer;
    const std::size_t count = step_.operations.size();
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = in_turn && direction == Direction::backward ? count - 1 - n : n;
      const StepOperation& one = step_.operations[i];
      if (one.order != order || one.section != section || one.direction != direction) continue;
      if (one.last_pass && !last_) continue;
      if (in_layer && (layer < one.first_layer || layer >= one.last_layer)) continue;
      double alone_s = one.alone_s;
      if (in_layer) alone_s /= as_double(one.last_layer - one.first_layer);
      if (section != Section::once && !one.last_pass) alone_s /= task_.passes();
      (in_turn ? result_.in_turn : result_.beside).push_back({alone_s, one.use, after, i, layer});
    }
  }

  const Step& step_;
  const Task& task_;
  bool last_;
  std::vector<LayerNodes> passed_;
  Program result_;
};

/// Times of a step, summed over the schedules of its passes.
struct Scheduled {
  std::vector<double> time_s;  ///< time of each operation in turn, by its index
  double exposed_s = 0;        ///< time without an operation in turn
};

/// Schedules the passes; overlapped transfers take `times` their expected time.
Scheduled scheduled(const Step& step, const Task& task, double times) {
  Scheduled sum{std::vector<double>(step.operations.size()), 0};
  double total_s = 0;
  for (const bool last : {false, true}) {
    const double passes = last ? 1 : task.passes() - 1;
    if (passes <= 0) continue;
    Program program = Builder(step, task, last).program();
    for (Node& node : program.beside) node.alone_s *= times;
    program = schedule(std::move(program));
    for (const Node& node : program.in_turn) {
      sum.time_s[node.operation] += passes * node.duration_s();
    }
    total_s += passes * program.total_s;
  }
  sum.exposed_s = total_s - std::accumulate(sum.time_s.begin(), sum.time_s.end(), 0.0);
  constexpr double kRounding = 1e-12;
  if (sum.exposed_s <= kRounding * total_s) sum.exposed_s = 0;
  return sum;
}

}  // namespace

void overlap(Step& step, const Task& task) {
  Duration beside;
  for (const StepOperation& one : step.operations) {
    if (one.order != Order::in_turn) beside.add(1, one);
  }
  if (beside.expected_s <= 0) return;
  const Scheduled expected = scheduled(step, task, 1);
  const auto exposed_s = [&](double beside_s) {
    return scheduled(step, task, beside_s / beside.expected_s).exposed_s;
  };
  const Duration exposed{expected.exposed_s, std::min(expected.exposed_s, exposed_s(beside.low_s)),
                         std::max(expected.exposed_s, exposed_s(beside.high_s))};
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    StepOperation& one = step.operations[i];
    if (one.order != Order::in_turn) {
      static_cast<Duration&>(one) = {};
      one.add(one.alone_s / beside.expected_s, exposed);
    } else if (one.alone_s > 0) {
      const double longer = std::max(1.0, expected.time_s[i] / one.alone_s);
      one.scale(longer);
      if (!one.use.transfer) step.transfers.slowed_s += (longer - 1) * one.alone_s;
    }
  }
}

std::vector<TimelineEvent> timeline(const Step& step, const Task& task) {
  const Program program = schedule(Builder(step, task, true).program());
  std::vector<TimelineEvent> events;
  for (const auto* nodes : {&program.in_turn, &program.beside}) {
    for (const Node& node : *nodes) {
      const StepOperation& one = step.operations[node.operation];
      events.push_back({static_cast<const Run&>(one), node.layer, node.start_s, node.duration_s(),
                        one.use.transfer, one.order != Order::in_turn});
    }
  }
  return events;
}

}  // namespace roofcast::transformer
