#pragma once
// A chart of a quantity over a swept parameter, one line per kernel, type or other value.
#include <optional>
#include <string>
#include <vector>

#include "reports/quantity.hpp"

namespace roofcast::reports {

/// One forecast of the sweep, and its measurement if there is one.
struct SweepPoint {
  double x = 0;  ///< the swept parameter's value
  double value = 0;
  std::optional<double> low;  ///< bounds of the forecast's interval
  std::optional<double> high;
  std::optional<double> measured;
  std::string problem;            ///< "n=1048576 stride=4 fp32"
  std::optional<double> waves{};  ///< waves of the launch, if the chart marks them
  std::string settings{};         ///< chosen by the forecast: "tile_m=128 tile_n=256"
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
  std::vector<SweepLine> lines;        ///< at most kMostLines, the distinguishable colours
  std::string legend{};                ///< title of the legend; empty: labels need none
  std::vector<std::string> colours{};  ///< labels in the order of the colours; empty: the lines'
  bool scattered = false;              ///< points alone: neighbours belong to different lines
};

inline constexpr std::size_t kMostLines = 10;

/// A line for each of `lines`, its interval as a band (outlines if more than 2 lines), measurements
/// as marks. The x axis is logarithmic if its values are positive and span more than 16 to 1, or
/// are more than 3 powers of two; the y axis if they span more than 16 to 1 and are no shares, else
/// it starts at 0. Marks show where launches take more whole waves than any launch with the same
/// settings at a smaller x; marks too close to the last one are left out, as are values that are
/// not finite. In a frame narrower than kSweepWidth a legend below names the lines. Vega-Lite JSON
/// text.
inline constexpr double kSweepWidth = 600;
std::string sweep_chart(const SweepPlot& plot, double width = kSweepWidth);

}  // namespace roofcast::reports
