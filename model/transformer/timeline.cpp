#include "model/transformer/timeline.hpp"

#include <algorithm>
#include <utility>

namespace roofcast::transformer {
namespace {

class Timeline {
 public:
  Timeline(const Step& step, const Architecture& model, const Task& task)
      : step_(step),
        layers_(std::max<std::int64_t>(1, model.layers / task.pp)),
        staged_(task.pp > 1),
        passes_(task.phase == Phase::train ? static_cast<double>(task.grad_accum) : 1),
        train_(task.phase == Phase::train) {}

  std::vector<TimelineEvent> events() {
    add(Section::begin, Direction::forward, 0);
    for (std::int64_t layer = 0; layer < layers_; ++layer) {
      add(Section::layer, Direction::forward, layer);
    }
    add(Section::end, Direction::forward, 0);
    if (train_) {
      add_reversed(Section::end, 0);
      for (std::int64_t layer = layers_; layer-- > 0;) {
        add(Section::layer, Direction::again, layer);
        add_reversed(Section::layer, layer);
      }
      add_reversed(Section::begin, 0);
    }
    add(Section::once, Direction::forward, 0);
    return std::move(events_);
  }

 private:
  bool has_layer(const StepOperation& one, std::int64_t layer) const {
    return staged_ || (layer >= one.first_layer && layer < one.last_layer);
  }

  void add(Section section, Direction direction, std::int64_t layer) {
    for (const StepOperation& one : step_.operations) {
      if (one.section == section && one.direction == direction) add(one, layer);
    }
  }

  void add_reversed(Section section, std::int64_t layer) {
    for (std::size_t position = step_.operations.size(); position-- > 0;) {
      const StepOperation& one = step_.operations[position];
      if (one.section == section && one.direction == Direction::backward) add(one, layer);
    }
  }

  void add(const StepOperation& one, std::int64_t layer) {
    double duration_s = one.time_s;
    if (one.section == Section::layer) {
      if (!has_layer(one, layer)) return;
      const std::int64_t all = staged_ ? layers_ : one.last_layer - one.first_layer;
      duration_s /= static_cast<double>(all);
    }
    if (one.section != Section::once) duration_s /= passes_;
    events_.push_back(
        {one.part, one.what, one.bound, one.section, one.direction, layer, now_s_, duration_s});
    now_s_ += duration_s;
  }

  const Step& step_;
  std::int64_t layers_;
  bool staged_;
  double passes_;
  bool train_;
  double now_s_ = 0;
  std::vector<TimelineEvent> events_;
};

}  // namespace

std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task) {
  return Timeline(step, model, task).events();
}

}  // namespace roofcast::transformer
