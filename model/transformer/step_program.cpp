#include "model/transformer/step_program.hpp"

#include <algorithm>
#include <utility>

namespace roofcast::transformer {
namespace {

/// A layer in one direction, with the recomputation before its gradients.
struct Visit {
  Direction direction;
  std::int64_t layer;
  std::size_t first = kNothing, last = kNothing;  ///< positions in the chain
};

class Builder {
 public:
  Builder(const Step& step, const Architecture& model, const Task& task, Pass pass, bool staged)
      : step_(step),
        layers_(staged ? std::max<std::int64_t>(1, model.layers / task.pp) : model.layers),
        staged_(staged && task.pp > 1),
        passes_(task.passes()),
        train_(task.phase == Phase::train),
        last_(pass == Pass::last),
        late_(task.prefetch == Prefetch::post) {}

  Program program() && {
    std::vector<Visit> visits;
    add(Section::begin, Direction::forward, 0);
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      visits.push_back(visit(Direction::forward, layer));
    }
    add(Section::end, Direction::forward, 0);
    if (train_) {
      add_reversed(Section::end, 0);
      for (std::int64_t layer = layers_; layer-- > 0;) {
        visits.push_back(visit(Direction::backward, layer));
      }
      add_reversed(Section::begin, 0);
    }
    add_beside(visits);
    const std::size_t once = result_.chain.size();
    if (last_) add(Section::once, Direction::forward, 0);
    if (once < result_.chain.size() && !result_.beside.empty()) {
      result_.chain[once].after = result_.beside.size() - 1;
    }
    return std::move(result_);
  }

 private:
  Visit visit(Direction direction, std::int64_t layer) {
    const std::size_t first = result_.chain.size();
    if (direction == Direction::forward) {
      add(Section::layer, Direction::forward, layer);
    } else {
      add(Section::layer, Direction::again, layer);
      add_reversed(Section::layer, layer);
    }
    if (first == result_.chain.size()) return {direction, layer};
    return {direction, layer, first, result_.chain.size() - 1};
  }

  // What begins once a visit has ended, in the order in which frameworks ask for it.
  void add_beside(const std::vector<Visit>& visits) {
    add_gather(visits, 0, kNothing);
    if (visits.size() > 1 && !is_late(visits[1])) add_gather(visits, 1, kNothing);
    for (std::size_t i = 0; i < visits.size(); ++i) {
      const std::size_t ended = visits[i].last;
      if (i + 1 < visits.size() && is_late(visits[i + 1])) add_gather(visits, i + 1, ended);
      add_beside(visits[i], Order::after_layer, ended);
      if (i + 2 < visits.size() && !is_late(visits[i + 2])) add_gather(visits, i + 2, ended);
    }
  }

  bool is_late(const Visit& visit) const { return late_ && visit.direction == Direction::backward; }

  void add_gather(const std::vector<Visit>& visits, std::size_t position, std::size_t after) {
    const Visit& visit = visits[position];
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
      if (const auto node = node_of(i, visit.layer)) {
        result_.beside.push_back(*node);
        result_.beside.back().after = after;
      }
    }
  }

  void add(Section section, Direction direction, std::int64_t layer) {
    for (std::size_t i = 0; i < step_.operations.size(); ++i) add(i, section, direction, layer);
  }

  void add_reversed(Section section, std::int64_t layer) {
    for (std::size_t i = step_.operations.size(); i-- > 0;) {
      add(i, section, Direction::backward, layer);
    }
  }

  void add(std::size_t i, Section section, Direction direction, std::int64_t layer) {
    const StepOperation& one = step_.operations[i];
    if (one.order != Order::in_turn || one.section != section || one.direction != direction) return;
    if (const auto node = node_of(i, layer)) result_.chain.push_back(*node);
  }

  /// Of one layer and pass; none where the layer or the pass lacks it.
  std::optional<Node> node_of(std::size_t i, std::int64_t layer) const {
    const StepOperation& one = step_.operations[i];
    if (one.last_pass && !last_) return std::nullopt;
    double alone_s = one.alone_s;
    if (one.section == Section::layer) {
      if (!staged_ && (layer < one.first_layer || layer >= one.last_layer)) return std::nullopt;
      alone_s /= static_cast<double>(staged_ ? layers_ : one.last_layer - one.first_layer);
    }
    if (one.section != Section::once && !one.last_pass) alone_s /= passes_;
    return Node{alone_s, one.use, kNothing, i, layer};
  }

  const Step& step_;
  std::int64_t layers_;
  bool staged_;
  double passes_;
  bool train_;
  bool last_;
  bool late_;  ///< weights for gradients are not gathered ahead
  Program result_;
};

}  // namespace

Program step_program(const Step& step, const Architecture& model, const Task& task, Pass pass,
                     bool staged) {
  return Builder(step, model, task, pass, staged).program();
}

}  // namespace roofcast::transformer
