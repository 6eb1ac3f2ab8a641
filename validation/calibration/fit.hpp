#pragma once
// Fits sustained values to a run, for the calibration overlay of a device.
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
  double mean_absolute_error = 0;  ///< of log time, plus half that of DRAM bytes
  std::size_t cases = 0;
};

/// Which constants a fit may change.
struct FitScope {
  std::vector<std::string> only;                      ///< fit these alone; empty: all but `fixed`
  std::vector<std::string> fixed;                     ///< kept as measured, unless in `only`
  std::map<std::string, double, std::less<>> held{};  ///< kept at these values, above all else
  bool moves(std::string_view name) const;
  bool fixes(std::string_view name) const;
};

/// Minimizes the mean |log(predicted ÷ measured)| of time, plus half that of DRAM bytes, over the
/// cases of even index; those of odd index are left for validation. Searches (NLopt's Sbplx, after
/// Rowan 1990) from the values of `gpu`. Launch costs and clock are the run's medians, unless
/// fixed. Throws InputError without cases, if the search fails, and for an unknown constant.
Fit fit(const Run& run, const Gpu& gpu, const FitScope& scope);

/// Sets the interval half-width of each regime to the 98th percentile of max(measured ÷ predicted,
/// predicted ÷ measured) − 1 over the cases of even index.
void fit_spreads(const Run& run, Gpu& gpu);

/// The overlay of a fit: fitted values name the fit as their source; values that the scope fixes,
/// and all others of `base`, keep their value and source.
Overlay fitted_overlay(const Run& run, const std::string& run_file, const Gpu& gpu,
                       const Overlay& base, const FitScope& scope);

}  // namespace roofcast::validation
