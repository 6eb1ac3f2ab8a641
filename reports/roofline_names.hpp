#pragma once
// Names beside the points of a roofline.
#include <string>
#include <vector>

#include "reports/roofline_layout.hpp"
#include "reports/theme.hpp"

namespace roofcast::reports {

inline constexpr double kDotRadius = 5.5;

/// "gemm.tiled"
std::string kernel_of(const Dot& dot);

/// A name for each dot that has room for one, clear of the names of roofs that `data` holds.
/// Returns the kernels of those without.
std::vector<std::string> add_names(Json& data, const std::string& prefix, const Frame& frame,
                                   const Roofs& roofs, const std::vector<Dot>& dots,
                                   const DotNames& names);
void add_name_layers(Json& layers, const std::string& prefix, const Frame& frame);

}  // namespace roofcast::reports
