#pragma once
#include <string_view>

#include "model/transformer/step.hpp"

namespace roofcast::testing {

/// Expected time of a step's part; 0 where it has none of that name.
inline double part_s(const transformer::Step& step, std::string_view name) {
  for (const transformer::StepPart& part : step.parts) {
    if (part.name == name) return part.expected_s;
  }
  return 0;
}

}  // namespace roofcast::testing
