#pragma once
// Places the names of roofs, in pixels from the lower left corner, so that none overlap.
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
  Pixel at;           ///< middle of the text's left end
  double level = 0;   ///< FLOP/s of a horizontal roof, where its leader starts
  bool asked = true;  ///< whether a point needs a roof's type
};

/// Labels along the slopes, for datasheet and sustained rates each: above or below the slope, never
/// over another slope's label, and over as few other slopes, labels of levels and points as
/// possible. A slope without room has none.
std::vector<RoofLabel> slope_labels(const std::vector<MemoryRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y, double top_flops_per_s,
                                    const std::vector<Pixel>& points,
                                    const std::vector<RoofLabel>& levels);

/// Labels of compute roofs, one for all roofs of the same height, right of the plot and pushed
/// apart. asked[i]: whether a point needs the type of roof i. In a narrow frame only these roofs
/// have labels, without names if too long, which stand on the roofs as far right as they cover no
/// point.
std::vector<RoofLabel> level_labels(const std::vector<ComputeRoof>& roofs,
                                    const std::vector<bool>& asked, const LogAxis& x,
                                    const LogAxis& y, const std::vector<Pixel>& points);

/// Separates labels sorted from the highest: moves down each that is too close to the one above,
/// then up those that fell below the plot.
void push_apart(std::vector<RoofLabel>& labels);

/// Height of a label (px).
inline constexpr double kRoofLabelHeight = 15;

/// Data rows of labels of compute roofs: text, x and y in the axes' units, level, asked.
Json level_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y);
/// Data rows of labels of slopes: text, x and y in the axes' units.
Json slope_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y);
/// The angle of a text along the slopes, in degrees clockwise.
double slope_angle(const LogAxis& x, const LogAxis& y);

}  // namespace roofcast::reports
