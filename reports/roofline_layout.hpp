#pragma once
// What a roofline chart draws and where: points that have a place, the axes, the roofs.
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
  bool beyond = false;      ///< its intensity is further right than the frame
  bool above_roof = false;  ///< faster than its limit, forecast or measured
  bool has_interval = false;
  std::vector<LevelIntensity> levels{};  ///< those that have a place
};

/// Beyond so many ridges of DRAM under the highest roof a point stands at the frame: nearly all of
/// its bytes stay on chip, and its distance would only squeeze the others.
inline constexpr double kMostRidges = 30;

struct Roofs {
  std::vector<MemoryRoof> memory;
  std::vector<ComputeRoof> compute;
};

struct Frame {
  LogAxis x;
  LogAxis y;
  Pixel pixel(const Place& p) const { return {x.position(p.intensity), y.position(p.flops_per_s)}; }
};

/// None without a positive rate and intensity.
std::optional<Dot> drawable_dot(const RooflinePoint& point, const Roofs& roofs);
/// Those with a positive rate and intensity.
std::vector<Dot> drawable_dots(const std::vector<RooflinePoint>& points, const Roofs& roofs);

/// Both axes hold every point and the ridge of DRAM with the highest and the lowest roof.
Frame frame_around(const Roofs& roofs, const std::vector<Dot>& dots, double width, double height);

/// Whether the roof is of a type that a point needs; true where no point says which.
bool is_asked(const ComputeRoof& roof, const std::vector<Dot>& dots);

/// What tells the points apart: "gemm.tiled" while each kernel stands there once, else with the
/// words of the shape that differ.
struct DotNames {
  std::vector<std::string> names;  ///< by dot
  std::string common;              ///< words of the shape that all of them share
};
DotNames names_of(const std::vector<Dot>& dots);

/// The same of several devices, whose labels begin with the device's name. While each kernel has
/// one shape, "p100 gemm.tiled"; in a narrow frame its number. Of one kernel, "p100".
struct DeviceDotNames {
  DotNames names;
  std::vector<std::string> kernels{};  ///< for the heading: each with its shape
};
DeviceDotNames names_by_device(const std::vector<Dot>& dots, double width);

/// Lines of a heading, over a wide frame parted where the names beside it end.
Json wrapped_lines(const std::string& text, double width);

}  // namespace roofcast::reports
