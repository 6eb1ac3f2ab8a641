#pragma once
// A sweep as a line chart.
#include <span>
#include <string>

#include "cli/input/sweep_plan.hpp"

namespace roofcast::cli {

struct PlottedSweep {
  std::span<const KernelSweep> sweeps;
  std::span<const Gpu> gpus;
  Assumptions assumptions;
  std::size_t repeats = 1;  ///< as for walk()
};

/// The help of --plot, with the names of the quantities.
std::string plot_option_meaning();

/// Whether a chart is asked for: by --plot, or by an output with a picture's extension. UsageError
/// for --format with a chart and for a chart's options without one.
bool wants_plot(const Options& options);

/// Draws the quantity of --plot over one parameter, with a line for each kernel and for each
/// combination of other values that vary. With --run it marks the run's measurements of the same
/// problems: with --cache those in that cache state; without it each point is forecast in the state
/// in which it was measured, or in which a run would measure it. Returns how many points have no
/// forecast. UsageError where there is no axis or too many lines.
std::size_t plot_sweep(const PlottedSweep& plotted, const Options& options);

}  // namespace roofcast::cli
