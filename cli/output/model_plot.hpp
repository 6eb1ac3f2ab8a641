#pragma once
// Charts and pages of `roofcast model`.
#include <optional>
#include <string>
#include <vector>

#include "cli/output/serving_output.hpp"
#include "cli/output/step_output.hpp"

namespace roofcast::cli {

/// The help of --plot, with the names of the charts.
std::string model_plot_meaning();

/// Writes the charts of steps: the one that `plot` names; without a name, on a page all of them, in
/// another file the timeline of a single step or the rate of several. UsageError for an unknown
/// name.
void write_step_charts(const std::vector<StepAnswer>& answers,
                       const std::optional<std::string>& plot, const std::string& path);

/// The same for services, which have no timeline.
void write_serving_charts(const std::vector<ServingAnswer>& answers,
                          const std::optional<std::string>& plot, const std::string& path);

}  // namespace roofcast::cli
