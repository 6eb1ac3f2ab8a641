#pragma once
// Charts and pages of `roofcast model`.
#include <optional>
#include <string>
#include <vector>

#include "cli/output/serving_output.hpp"
#include "cli/output/step_output.hpp"

namespace roofcast::cli {

/// "timeline, memory, rate or latency", for help.
std::string model_plot_meaning();

/// Writes the charts of steps: as a page all of them, or the one named; as .svg, .png or .json the
/// one named, else the timeline of a single step and the rate of several. UsageError for another
/// name.
void write_step_charts(const std::vector<StepAnswer>& answers,
                       const std::optional<std::string>& plot, const std::string& path);

/// The same for services: memory, rate and latency.
void write_serving_charts(const std::vector<ServingAnswer>& answers,
                          const std::vector<std::optional<double>>& capacities,
                          const std::optional<std::string>& plot, const std::string& path);

}  // namespace roofcast::cli
