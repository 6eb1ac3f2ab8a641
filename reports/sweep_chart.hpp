#pragma once
// A quantity over a swept parameter, one line a kernel, type or other value.
#include <optional>
#include <string>
#include <vector>

#include "reports/quantity.hpp"

namespace roofcast::reports {

/// One forecast of the sweep, and its measurement if there is one.
struct SweepPoint {
  double x = 0;  ///< the swept parameter's value
  double value = 0;
  std::optional<double> low;  ///< of the forecast's interval
  std::optional<double> high;
  std::optional<double> measured;
  std::string problem;            ///< "n=1048576 stride=4 fp32"
  std::optional<double> waves{};  ///< of the launch, where the chart marks them
  std::string settings{};         ///< that the forecast chose: "tile_m=128 tile_n=256"
};

struct SweepLine {
  std::string label;
  std::vector<SweepPoint> points;
};

struct SweepPlot {
  std::string title;
  std::string subtitle;
  std::string x_title;
  const Quantity* quantity = nullptr;
  std::vector<SweepLine> lines;        ///< at most kMostLines: as many as the colours tell apart
  std::string legend{};                ///< what the labels of the lines are; empty: they say so
  std::vector<std::string> colours{};  ///< labels in the order of the colours; empty: the lines'
  bool scattered = false;              ///< points alone: neighbours belong to different lines
};

inline constexpr std::size_t kMostLines = 10;

/// A line for each of `lines`, its interval as a band, measurements as marks. An axis whose values
/// are positive and span more than 16 to 1 is logarithmic, as is one of powers of two; a linear
/// axis of the quantity starts at 0. Of the points with waves, those of the most common settings
/// give the marks from where on a launch takes more whole waves, but for marks too close to be told
/// apart. Values that are not finite are left out. A frame narrower than kSweepWidth has the names
/// of lines below it. Vega-Lite JSON text.
inline constexpr double kSweepWidth = 600;
std::string sweep_chart(const SweepPlot& plot, double width = kSweepWidth);

}  // namespace roofcast::reports
