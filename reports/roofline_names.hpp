#pragma once
// Names beside the points of a roofline.
#include <string>
#include <vector>

#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

inline constexpr double kDotRadius = 5.5;  ///< px

/// The first word of the dot's label: "gemm.tiled".
std::string kernel_of(const Dot& dot);

/// Adds to `data` a name for each dot that has room for one, clear of the names of roofs already in
/// `data`. Returns the kernels of dots without a name.
std::vector<std::string> add_names(Json& data, const std::string& prefix, const Frame& frame,
                                   const Roofs& roofs, const std::vector<Dot>& dots,
                                   const DotNames& names);
void add_name_layers(Json& layers, const std::string& prefix, const Frame& frame);

}  // namespace roofcast::reports
