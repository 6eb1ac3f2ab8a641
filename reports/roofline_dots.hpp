#pragma once
// The part of a roofline chart that the kernels make: points of every level, intervals, arrows,
// names.
#include <string>
#include <vector>

#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Data sets of the dots, named with `prefix` before them. Returns the kernels that found no room
/// for their name: the legend has to tell them.
std::vector<std::string> add_dots(Json& data, const std::string& prefix, const Frame& frame,
                                  const Roofs& roofs, const std::vector<Dot>& dots,
                                  const DotNames& names);
/// `dashes` is the channel of the lines that join levels; null: the same for all.
void add_dot_layers(Json& layers, const std::string& prefix, const Frame& frame,
                    const Json& colours, std::size_t dots, const Json& dashes = nullptr);

/// Bars of DRAM bandwidth for kernels that compute nothing; null where there are none.
Json bandwidth_panel(Json& data, const std::vector<RooflinePoint>& points, const Roofs& roofs,
                     double width);

}  // namespace roofcast::reports
