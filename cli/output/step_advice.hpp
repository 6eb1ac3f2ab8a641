#pragma once
// What to change first in a step: the same step with one thing changed, forecast.
#include <string>
#include <vector>

#include "cli/output/step_output.hpp"

namespace roofcast::cli {

struct StepChange {
  std::string what;   ///< "--framework compiled", "a vocabulary of 50304"
  double faster = 1;  ///< tokens a second, of those without it
};

/// Changes that fit the memory and bring at least 2% more tokens a second, the greatest first.
std::vector<StepChange> step_changes(const StepAnswer& answer, const Gpu& gpu);

/// "next: …", empty where nothing brings more.
std::string changes_text(const std::vector<StepChange>& changes);

}  // namespace roofcast::cli
