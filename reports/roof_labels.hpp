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
  Pixel at;           ///< middle of the text's left end
  double level = 0;   ///< FLOP/s of a horizontal roof, where its leader starts
  bool asked = true;  ///< of a type that a point needs
};

/// A name for every slope that has room for one, datasheet and sustained apart: along it, above or
/// below, clear of the other slopes, of each other and, as far as there is room, of the points.
std::vector<RoofLabel> slope_labels(const std::vector<MemoryRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y, double top_flops_per_s,
                                    const std::vector<Pixel>& points);

/// Right of the plot, one line for all roofs of the same height, pushed apart where they are close.
/// `asked` says of each roof whether a point needs its type. In a narrow frame those asked for, as
/// figures alone where names are too long, on the roofs, as far right as they cover no point.
std::vector<RoofLabel> level_labels(const std::vector<ComputeRoof>& roofs,
                                    const std::vector<bool>& asked, const LogAxis& x,
                                    const LogAxis& y, const std::vector<Pixel>& points);

/// Adds points along the labels that stand inside a frame of that width: what other names keep
/// clear of.
void add_points_of(std::vector<Pixel>& points, const std::vector<RoofLabel>& labels, double width);

/// Sorted, the highest first: down what is too close to the one above, then up what fell off the
/// plot.
void push_apart(std::vector<RoofLabel>& labels);

/// Pixels that one label needs of the height.
inline constexpr double kRoofLabelHeight = 15;

/// Their rows of a chart: text, x, y, level, asked.
Json level_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y);
/// Those of slopes: text, x, y.
Json slope_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y);
/// The angle of a text along the slopes, in degrees clockwise.
double slope_angle(const LogAxis& x, const LogAxis& y);

}  // namespace roofcast::reports
