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
  std::size_t repeats = 1;  ///< as `walk` takes it
};

/// What --plot takes, for the help.
std::string plot_option_meaning();

/// --plot, or an output whose name is a picture's. UsageError for an option that only the other
/// form of output has.
bool wants_plot(const Options& options);

/// Draws the quantity of --plot over one parameter, a line for each kernel and for each other value
/// that varies, and with --run the measurements of the same problems: those in the cache state
/// asked for, or without --cache in the one they were measured in, which the forecast then takes
/// too (points not measured take the one a run would choose). Returns how many points have no
/// forecast. UsageError where there is no axis or too many lines.
std::size_t plot_sweep(const PlottedSweep& plotted, const Options& options);

}  // namespace roofcast::cli
