#pragma once
// The operations of a step over time.
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
  bool transfer = false;
  bool beside = false;  ///< not in turn: launches may run meanwhile
};

/// The last pass of the step on one GPU, with what comes once a step: events in turn in their
/// order, then those beside.
std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
