#pragma once
// The operations of a step one after the other.
#include <cstdint>
#include <string>
#include <vector>

#include "model/transformer/step.hpp"

namespace roofcast::transformer {

struct TimelineEvent {
  std::string part;
  std::string what;
  std::string bound;
  Section section = Section::layer;
  Direction direction = Direction::forward;
  std::int64_t layer = 0;  ///< of Section::layer, from 0
  double start_s = 0;
  double duration_s = 0;
};

/// One pass of the step on one GPU, then what comes once a step: before the layers, each layer
/// forward, the end, and in training the same backward. What collectives and software add lies
/// evenly in the layers. Of stages those layers that one GPU has.
std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
