#pragma once
// Where the names of roofs stand, in pixels from the lower left corner, so that none overlaps.
#include <string>
#include <vector>

#include "reports/plot.hpp"
#include "reports/roofs.hpp"

namespace roofcast::reports {

struct Pixel {
  double x = 0;
  double y = 0;
};

struct RoofLabel {
  std::string text;
  Pixel at;          ///< middle of the text's left end
  double level = 0;  ///< FLOP/s of a horizontal roof, where its leader starts
};

/// Along the slope, above or below it, clear of the points and of the neighbouring slopes.
std::vector<RoofLabel> slope_labels(const std::vector<MemoryRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y, double top_flops_per_s,
                                    const std::vector<Pixel>& points);

/// Right of the plot, one line for all roofs of the same height, pushed apart where they are close.
std::vector<RoofLabel> level_labels(const std::vector<ComputeRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y);

}  // namespace roofcast::reports
