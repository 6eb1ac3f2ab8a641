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

struct Step {
  double x;
  double waves;
  const std::string* settings;
};

/// The points with waves by x, waves rounded up.
std::vector<Step> steps_of(const SweepPlot& plot) {
  std::vector<Step> steps;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      if (point.waves) steps.push_back({point.x, std::ceil(*point.waves), &point.settings});
    }
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.x < b.x; });
  return steps;
}

/// Marks where a launch takes more whole waves than any before it with the same settings: more
/// waves because of a smaller tile are no step.
Json wave_rows(const std::vector<Step>& steps) {
  constexpr double kApart = 0.025;  // share of the axis: room for two digits
  Json rows = Json::array();
  if (steps.empty()) return rows;
  const double apart = kApart * (steps.back().x - steps.front().x);
  std::map<std::string, double> most;
  double last = -std::numeric_limits<double>::infinity();
  for (const Step& step : steps) {
    const auto [known, first] = most.try_emplace(*step.settings, step.waves);
    if (first || step.waves <= known->second) continue;
    known->second = step.waves;
    if (step.x - last < apart) continue;
    last = step.x;
    rows.push_back({{"x", step.x}, {"waves", fmt::format("{:.0f}", step.waves)}});
  }
  return rows;
}

bool is_one_setting(const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(),
                     [&](const Step& step) { return *step.settings == *steps.front().settings; });
}

}  // namespace

WaveMarks wave_marks(const SweepPlot& plot) {
  const std::vector<Step> steps = steps_of(plot);
  return {wave_rows(steps),
          is_one_setting(steps)
              ? "dashed: from here on so many waves"
              : "dashed: from here on so many waves, each point with its own tile"};
}

Json wave_layers(const Json& x) {
  Json layers = Json::array();
  layers.push_back(
      layer("waves", "waves", mark("rule", "leader", {{"strokeDash", {3, 4}}}), {{"x", x}}));
  layers.push_back(layer(
      "wave counts", "waves",
      mark("text", "roof-label", {{"align", "left"}, {"baseline", "top"}, {"dx", 3}}),
      {{"x", x}, {"y", {{"value", 0}}}, {"text", {{"field", "waves"}, {"type", "nominal"}}}}));
  return layers;
}

}  // namespace roofcast::reports
