#pragma once
// A profile and its forecasts as a page and as a roofline.
#include <string>

#include "model/types/gpu.hpp"
#include "reports/chart.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::reports {

/// One HTML page that opens offline: what to change first, the longest kernels under the roofline,
/// every kernel. Names from the profile are escaped. Throws InputError as chart_page does.
std::string profile_page(const validation::Profile& profile, const Gpu& gpu,
                         const std::string& file);

/// The roofline of the 16 longest kernels that have a place in it: measured, and their forecast, or
/// their limit if they have none. Vega-Lite JSON text.
std::string profile_roofline(const validation::Profile& profile, const Gpu& gpu,
                             double width = kRooflineWidth);

}  // namespace roofcast::reports
