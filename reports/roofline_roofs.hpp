#pragma once
// The part of a roofline chart that the device alone decides: slopes, levels, ridges, their names.
#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// A layer that draws a named data set; "PANEL: what" gives the layer's name the panel's.
Json layer(std::string_view name, const std::string& data, Json mark, Json encoding);

/// Every roof as a line, one data set a style; their names clear of the dots. Data sets are named
/// with `prefix` before them.
void add_roofs(Json& data, const std::string& prefix, const Roofs& roofs, const Frame& frame,
               const std::vector<Dot>& dots);
/// The layers of the names of slopes and levels.
void add_label_layers(Json& layers, const std::string& prefix, const Frame& frame);
void add_roof_layers(Json& layers, const std::string& prefix, const Frame& frame);

}  // namespace roofcast::reports
