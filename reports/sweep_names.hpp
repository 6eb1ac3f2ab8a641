#pragma once
// The names of a sweep's lines, at their right ends.
#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Rows {"line","text","x","y","at"}: the last point of each line, and the pixel from the top at
/// which its name stands, pushed apart where lines end close to each other.
Json line_names(const SweepPlot& plot, const Json& x, const Json& y);
Json line_name_layers(const Json& x, const Json& y, const Json& colours, const Json& shapes);

}  // namespace roofcast::reports
