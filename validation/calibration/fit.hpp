#pragma once
// Sustained values from a run: the calibration overlay of a device.
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/calibration/overlay_file.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

struct Fit {
  Sustained sustained;
  double mean_absolute_error = 0;  ///< of log time over the cases used
  std::size_t cases = 0;
};

/// Which constants a fit may choose.
struct FitScope {
  std::vector<std::string> only;   ///< these alone; empty: all that are not fixed
  std::vector<std::string> fixed;  ///< measured directly
  std::map<std::string, double, std::less<>> held{};  ///< at these values, whatever else is said
  bool moves(std::string_view name) const;
  bool fixes(std::string_view name) const;
};

/// Chooses the constants that make the mean |log(predicted ÷ measured)| of time (and, at half the
/// weight, of DRAM bytes) least over the cases of the run with an even index; those with an odd
/// index are left for validation. Searches (NLopt's Sbplx, after Rowan 1990) from the values that
/// `gpu` has. The cost of a launch and the clock come from the run's medians, unless they are
/// fixed. Throws InputError if nothing is found, and for a name that is no constant's.
Fit fit(const Run& run, const Gpu& gpu, const FitScope& scope);

/// Sets the three interval half-widths to the 98th percentile of the absolute error of each regime
/// over the same cases.
void fit_spreads(const Run& run, Gpu& gpu);

/// The overlay of a fit: what the fit chose says so; what the scope fixes and what else `base` has
/// stays as it is, with its source.
Overlay fitted_overlay(const Run& run, const std::string& run_file, const Gpu& gpu,
                       const Overlay& base, const FitScope& scope);

}  // namespace roofcast::validation
