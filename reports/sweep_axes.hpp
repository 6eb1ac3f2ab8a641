#pragma once
// The axes of a sweep's chart: what they span, whether they are logarithmic, their ticks.
#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

inline constexpr double kSweepHeight = 400;

/// Channels that encode the fields "x" and "y".
Json sweep_x(const SweepPlot& plot, double width);
Json sweep_y(const SweepPlot& plot);

/// Pixels from the low end of the axis that such a channel makes.
double axis_position(const Json& channel, double value, double pixels);

}  // namespace roofcast::reports
