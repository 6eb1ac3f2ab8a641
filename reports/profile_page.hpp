#pragma once
// A profile beside its forecasts, as a page and as a roofline.
#include <string>

#include "model/types/gpu.hpp"
#include "reports/chart.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::reports {

/// One page that opens offline: what to change first, the longest kernels under the roofline, every
/// kernel. Names from the profile are text, whatever they hold. Throws InputError as chart_page.
std::string profile_page(const validation::Profile& profile, const Gpu& gpu,
                         const std::string& file);

/// The roofline of the longest kernels: forecast, or the limit where there is none, and measured.
/// Vega-Lite JSON text.
std::string profile_roofline(const validation::Profile& profile, const Gpu& gpu,
                             double width = kRooflineWidth);

}  // namespace roofcast::reports
