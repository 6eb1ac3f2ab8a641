// The operations of a pass as launches and transfers on their streams.
#include <algorithm>
#include <utility>

#include "model/transformer/step_parts.hpp"

namespace roofcast::transformer {
namespace {

/// Passes of a step: equal ones, and the last one with what comes once a step.
enum class Pass : unsigned char { earlier, last };

/// A layer in one direction, with the recomputation before its gradients.
struct Visit {
  Direction direction;
  std::int64_t layer;
  std::size_t first = kNothing, last = kNothing;  ///< positions in the chain
};

/// One pass of one GPU: before the layers, each layer, the end, and in training the same backward.
/// What software adds is spread evenly over the layers. `staged`: the layers of one stage, once the
/// step's operations are those of a stage.
class Builder {
 public:
  Builder(const Step& step, const Architecture& model, const Task& task, Pass pass, bool staged)
      : step_(step), task_(task), last_(pass == Pass::last), staged_(staged && task.pp > 1) {
    layers_ = staged ? std::max<std::int64_t>(1, model.layers / task.pp) : model.layers;
  }

  Program program() && {
    add(Section::begin, Direction::forward);
    for (std::int64_t layer = 0; layer < layers_; ++layer) visit(Direction::forward, layer);
    add(Section::end, Direction::forward);
    if (task_.phase == Phase::train) {
      add(Section::end, Direction::backward);
      for (std::int64_t layer = layers_; layer-- > 0;) visit(Direction::backward, layer);
      add(Section::begin, Direction::backward);
    }
    add_beside();
    const std::size_t once = result_.chain.size();
    if (last_) add(Section::once, Direction::forward);
    if (once < result_.chain.size() && !result_.beside.empty()) {
      result_.chain[once].after = result_.beside.size() - 1;
    }
    return std::move(result_);
  }

 private:
  void visit(Direction direction, std::int64_t layer) {
    Visit one{direction, layer};
    const std::size_t first = result_.chain.size();
    if (direction == Direction::backward) add(Section::layer, Direction::again, layer);
    add(Section::layer, direction, layer);
    if (first < result_.chain.size()) {
      one.first = first;
      one.last = result_.chain.size() - 1;
    }
    visits_.push_back(one);
  }

  // Transfers begin once a visit has ended, in the order in which frameworks ask for them.
  void add_beside() {
    add_gather(0, false, kNothing);
    add_gather(1, false, kNothing);
    for (std::size_t i = 0; i < visits_.size(); ++i) {
      const std::size_t ended = visits_[i].last;
      add_gather(i + 1, true, ended);
      add_beside(visits_[i], Order::after_layer, ended);
      add_gather(i + 2, false, ended);
    }
  }

  // With Prefetch::post, weights for gradients are gathered late.
  void add_gather(std::size_t position, bool late, std::size_t after) {
    if (position >= visits_.size()) return;
    const Visit& visit = visits_[position];
    const bool waits = task_.prefetch == Prefetch::post && visit.direction == Direction::backward;
    if (late != waits) return;
    const std::size_t before = result_.beside.size();
    add_beside(visit, Order::before_layer, after);
    if (result_.beside.size() > before && visit.first != kNothing) {
      result_.chain[visit.first].after = result_.beside.size() - 1;
    }
  }

  void add_beside(const Visit& visit, Order order, std::size_t after) {
    for (std::size_t i = 0; i < step_.operations.size(); ++i) {
      const StepOperation& one = step_.operations[i];
      if (one.order != order || one.direction != visit.direction) continue;
      if (auto node = node_of(i, visit.layer)) {
        node->after = after;
        result_.beside.push_back(*node);
      }
    }
  }

  // Gradients are computed in reversed order.
  void add(Section section, Direction direction, std::int64_t layer = 0) {
    const std::size_t count = step_.operations.size();
    for (std::size_t n = 0; n < count; ++n) {
      const std::size_t i = direction == Direction::backward ? count - 1 - n : n;
      const StepOperation& one = step_.operations[i];
      if (one.order != Order::in_turn || one.section != section || one.direction != direction) {
        continue;
      }
      if (const auto node = node_of(i, layer)) result_.chain.push_back(*node);
    }
  }

  /// An operation in one layer and pass; none where these lack it.
  std::optional<Node> node_of(std::size_t i, std::int64_t layer) const {
    const StepOperation& one = step_.operations[i];
    if (one.last_pass && !last_) return std::nullopt;
    double alone_s = one.alone_s;
    if (one.section == Section::layer) {
      if (!staged_ && (layer < one.first_layer || layer >= one.last_layer)) return std::nullopt;
      alone_s /= static_cast<double>(staged_ ? layers_ : one.last_layer - one.first_layer);
    }
    if (one.section != Section::once && !one.last_pass) alone_s /= task_.passes();
    return Node{alone_s, one.use, kNothing, i, layer};
  }

  const Step& step_;
  const Task& task_;
  bool last_, staged_;
  std::int64_t layers_ = 0;
  std::vector<Visit> visits_;
  Program result_;
};

/// Times of a step in its schedules.
struct Scheduled {
  std::vector<double> time_s;  ///< of each operation in turn
  double exposed_s = 0;        ///< while no operation in turn runs
};

/// With transfers beside that take `times` as long as expected.
Scheduled scheduled(const Step& step, const Architecture& model, const Task& task, double times) {
  Scheduled sum{std::vector<double>(step.operations.size()), 0};
  double total_s = 0;
  const auto add = [&](Pass pass, double passes) {
    if (passes <= 0) return;
    Program program = Builder(step, model, task, pass, false).program();
    for (Node& node : program.beside) node.alone_s *= times;
    const Schedule when = schedule(program);
    for (std::size_t i = 0; i < program.chain.size(); ++i) {
      sum.time_s[program.chain[i].operation] += passes * when.chain[i].duration_s();
    }
    total_s += passes * when.total_s;
  };
  add(Pass::earlier, task.passes() - 1);
  add(Pass::last, 1);
  sum.exposed_s = total_s;
  for (const double time_s : sum.time_s) sum.exposed_s -= time_s;
  constexpr double kRounding = 1e-12;
  if (sum.exposed_s <= kRounding * total_s) sum.exposed_s = 0;
  return sum;
}

}  // namespace

void overlap(Step& step, const Architecture& model, const Task& task) {
  Duration beside;
  for (const StepOperation& one : step.operations) {
    if (one.order != Order::in_turn) beside.add(1, one);
  }
  if (beside.expected_s <= 0) return;
  const Scheduled expected = scheduled(step, model, task, 1);
  const auto exposed_s = [&](double beside_s) {
    return scheduled(step, model, task, beside_s / beside.expected_s).exposed_s;
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
      if (!one.transfer) step.transfers.slowed_s += (longer - 1) * one.alone_s;
    }
  }
}

std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task) {
  const Program program = Builder(step, model, task, Pass::last, true).program();
  const Schedule when = schedule(program);
  std::vector<TimelineEvent> events;
  const auto add = [&](const std::vector<Node>& nodes, const std::vector<Span>& spans) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const StepOperation& one = step.operations[nodes[i].operation];
      events.push_back({one.part, one.what, one.bound, one.section, one.direction, nodes[i].layer,
                        spans[i].start_s, spans[i].duration_s(), one.transfer.has_value(),
                        one.order != Order::in_turn});
    }
  };
  add(program.chain, when.chain);
  add(program.beside, when.beside);
  return events;
}

}  // namespace roofcast::transformer
