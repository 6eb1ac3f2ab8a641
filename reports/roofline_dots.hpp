#pragma once
// The kernels' part of a roofline chart: points at every level, intervals, arrows, names, and bars
// of bandwidth.
#include <string>
#include <vector>

#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Adds the data sets of the dots, each named `prefix` + its kind. Returns the kernels without a
/// name beside a dot, which the legend has to name.
std::vector<std::string> add_dots(Json& data, const std::string& prefix, const Frame& frame,
                                  const Roofs& roofs, const std::vector<Dot>& dots,
                                  const DotNames& names);
/// `dashes` is the strokeDash channel of the lines that join levels; null: all have the same
/// dashes.
void add_dot_layers(Json& layers, const std::string& prefix, const Frame& frame,
                    const Json& colours, std::size_t dots, const Json& dashes = nullptr);

/// Bars of DRAM bandwidth for up to 24 kernels without FLOPs; null if there are none.
Json bandwidth_panel(Json& data, const std::vector<RooflinePoint>& points, const Roofs& roofs,
                     double width);

}  // namespace roofcast::reports
