#pragma once
// Layout of a roofline chart: the points that can be drawn, their names, the axes, the roofs.
#include <optional>
#include <string>
#include <vector>

#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/roof_labels.hpp"
#include "reports/roofline_point.hpp"
#include "reports/roofs.hpp"

namespace roofcast::reports {

struct Place {
  double intensity = 0;
  double flops_per_s = 0;
};

/// A point that can be drawn, with its measurement if there is one.
struct Dot {
  const RooflinePoint* point = nullptr;
  Place predicted{};
  std::optional<Place> measured{};
  bool beyond = false;      ///< its intensity exceeds kMostRidges and is drawn there
  bool above_roof = false;  ///< its forecast or measured rate exceeds its limit
  bool has_interval = false;
  std::vector<LevelIntensity> levels{};  ///< the levels that can be drawn
};

/// The highest intensity drawn, in ridges of the slowest memory with the highest roof. Points
/// beyond it keep nearly all bytes on chip; at their own intensity they would only squeeze the
/// others.
inline constexpr double kMostRidges = 30;

struct Roofs {
  std::vector<MemoryRoof> memory;
  std::vector<ComputeRoof> compute;
};

struct Frame {
  LogAxis x;
  LogAxis y;
  Pixel pixel(const Place& p) const { return {x.position(p.intensity), y.position(p.flops_per_s)}; }
  /// The channels of the fields "x" and "y", and more.
  Json across(const Json& more = Json::object()) const;
};

/// The dot of a point; none without a positive rate and intensity.
std::optional<Dot> drawable_dot(const RooflinePoint& point, const Roofs& roofs);
/// The dots of all points that have one.
std::vector<Dot> drawable_dots(const std::vector<RooflinePoint>& points, const Roofs& roofs);

/// The pixels of each dot: predicted, measured and at each level.
std::vector<Pixel> pixels_of(const std::vector<Dot>& dots, const Frame& frame);

/// Axes that contain every point and the ridges of the slowest memory with the highest and the
/// lowest compute roof.
Frame frame_around(const Roofs& roofs, const std::vector<Dot>& dots, double width, double height);

/// Whether a dot needs the roof's type (and pipe, if it names one); true if no dot says what it
/// needs.
bool is_asked(const ComputeRoof& roof, const std::vector<Dot>& dots);

/// Names of the dots: the kernel, then the words of its label that not all dots have, "gemm.tiled
/// m=512".
struct DotNames {
  std::vector<std::string> names;  ///< by dot; all empty if a dot has no label
  std::string common;              ///< words after the kernel that all dots have
};
DotNames names_of(const std::vector<Dot>& dots);

/// Names of dots of several devices, whose labels begin with the device's name: "p100" with a
/// single kernel and shape, "p100 gemm.tiled" if each kernel has one shape, else as by names_of. In
/// a narrow frame, with several, their numbers in `kernels`.
struct DeviceDotNames {
  DotNames names;
  std::vector<std::string> kernels{};  ///< for the heading, with shapes; empty: as by names_of
};
DeviceDotNames names_by_device(const std::vector<Dot>& dots, double width);

/// The text of a chart of these frames and, unless null, the bars below them. `legends` says which
/// legends are independent.
std::string stacked(Json chart, Json frames, Json bars, int columns, Json legends);

/// Lines of a heading: wrapped at 1.5 × `width` px; a single one if the frame is narrow.
Json wrapped_lines(const std::string& text, double width);

}  // namespace roofcast::reports
