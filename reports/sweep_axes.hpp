#pragma once
// The axes of a sweep's chart: their range, scale (linear or logarithmic) and ticks.
#include "reports/sweep_chart.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

inline constexpr double kSweepHeight = 400;  ///< of the frame (px)

/// The channels of the fields "x" and "y"; `width` is the frame's (px).
Json sweep_x(const SweepPlot& plot, double width);
Json sweep_y(const SweepPlot& plot);

/// Pixels from the low end of such a channel's axis, which is `pixels` long, to `value`.
double axis_position(const Json& channel, double value, double pixels);

}  // namespace roofcast::reports
