#pragma once
// Advice on what to change first in a step: forecasts of the step with one thing changed.
#include <string>
#include <vector>

#include "cli/output/step_output.hpp"

namespace roofcast::cli {

struct StepChange {
  std::string what;   ///< "--framework compiled", "a vocabulary of 50304"
  double faster = 1;  ///< tokens per second ÷ those without the change
};

/// Changes that fit the memory and bring at least 2% more tokens per second, the largest first.
std::vector<StepChange> step_changes(const StepAnswer& answer, const Gpu& gpu);

/// The line "next: …"; empty without changes.
std::string changes_text(const std::vector<StepChange>& changes);

}  // namespace roofcast::cli
