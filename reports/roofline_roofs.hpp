#pragma once
// The device's part of a roofline chart: slopes, compute roofs, ridges and their names.
#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

/// Adds the data sets of roofs (one per style), ridges, the attainable area and the names of roofs,
/// which keep clear of the dots. Each is named `prefix` + its kind.
void add_roofs(Json& data, const std::string& prefix, const Roofs& roofs, const Frame& frame,
               const std::vector<Dot>& dots);
/// Adds the layers of the names of slopes and compute roofs.
void add_label_layers(Json& layers, const std::string& prefix, const Frame& frame);
void add_roof_layers(Json& layers, const std::string& prefix, const Frame& frame);

}  // namespace roofcast::reports
