#pragma once
// The names of a sweep's lines, right of the frame.
#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Rows {"line","x","y","at","at_edge"}: the last point of each line, the height of its name in px
/// from the top, separated from other names, and whether the line ends at the frame's right edge.
Json line_names(const SweepPlot& plot, const Json& x, const Json& y);
Json line_name_layers(const Json& x, const Json& y, const Json& colours, const Json& shapes);

}  // namespace roofcast::reports
