#include "reports/wave_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "reports/plot.hpp"

namespace roofcast::reports {
namespace {

/// The settings that most points with waves have, and whether others have other ones.
struct CommonSettings {
  std::string text;
  bool all = true;
};

CommonSettings common_settings(const SweepPlot& plot) {
  std::map<std::string, std::size_t> counts;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) counts[point.settings] += point.waves ? 1 : 0;
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? CommonSettings{} : CommonSettings{most->first, counts.size() == 1};
}

/// Where launches with these settings begin to take more whole waves, whatever their lines.
Json wave_rows(const SweepPlot& plot, const std::string& settings) {
  std::vector<std::pair<double, double>> points;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      low = std::min(low, point.x);
      high = std::max(high, point.x);
      if (!point.waves || point.settings != settings) continue;
      points.emplace_back(point.x, std::ceil(*point.waves));
    }
  }
  std::sort(points.begin(), points.end());
  constexpr double kApart = 0.025;  // of the axis: room for two digits
  Json rows = Json::array();
  if (points.empty()) return rows;
  double most = points.front().second;
  double last = -std::numeric_limits<double>::infinity();
  for (const auto& [x, waves] : points) {
    if (waves <= most) continue;
    most = waves;
    if (x - last < kApart * (high - low)) continue;
    last = x;
    rows.push_back({{"x", x}, {"waves", fmt::format("{:.0f}", waves)}});
  }
  return rows;
}

}  // namespace

WaveMarks wave_marks(const SweepPlot& plot) {
  const CommonSettings settings = common_settings(plot);
  return {wave_rows(plot, settings.text),
          "dashed: from here on so many waves" + (settings.all ? "" : " of " + settings.text)};
}

Json wave_layers(const Json& x) {
  Json layers = Json::array();
  layers.push_back({{"name", "waves"},
                    {"data", {{"name", "waves"}}},
                    {"mark", mark("rule", "leader", {{"strokeDash", {3, 4}}})},
                    {"encoding", {{"x", x}}}});
  layers.push_back(
      {{"name", "wave counts"},
       {"data", {{"name", "waves"}}},
       {"mark", mark("text", "roof-label", {{"align", "left"}, {"baseline", "top"}, {"dx", 3}})},
       {"encoding",
        {{"x", x}, {"y", {{"value", 0}}}, {"text", {{"field", "waves"}, {"type", "nominal"}}}}}});
  return layers;
}

}  // namespace roofcast::reports
