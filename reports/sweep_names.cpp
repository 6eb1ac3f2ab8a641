#include "reports/sweep_names.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reports/plot.hpp"
#include "reports/sweep_axes.hpp"

namespace roofcast::reports {
namespace {

constexpr double kLineHeight = 15;

struct End {
  std::string line;
  double x;
  double y;
  double at;  ///< middle of the name (px from the top)
};

std::vector<End> ends_of(const SweepPlot& plot, const Json& y) {
  std::vector<End> ends;
  for (const SweepLine& line : plot.lines) {
    const SweepPoint* last = nullptr;
    for (const SweepPoint& point : line.points) {
      if (!std::isfinite(point.value)) continue;
      if (last == nullptr || point.x >= last->x) last = &point;
    }
    if (last == nullptr) continue;
    const double height = axis_position(y, last->value, kSweepHeight);
    ends.push_back({line.label, last->x, last->value, kSweepHeight - height});
  }
  return ends;
}

}  // namespace

Json line_names(const SweepPlot& plot, const Json& x, const Json& y) {
  std::vector<End> ends = ends_of(plot, y);
  std::stable_sort(ends.begin(), ends.end(),
                   [](const End& a, const End& b) { return a.at < b.at; });
  // Move names down from the one above, then up from the foot of the frame.
  for (std::size_t i = 1; i < ends.size(); ++i) {
    ends[i].at = std::max(ends[i].at, ends[i - 1].at + kLineHeight);
  }
  double foot = kSweepHeight;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    end->at = std::min(end->at, foot);
    foot = end->at - kLineHeight;
  }
  Json rows = Json::array();
  for (const End& end : ends) {
    // Only a line that ends at the frame's edge has a leader: others would cross the frame.
    const bool at_edge = axis_position(x, end.x, kSweepWidth) > 0.95 * kSweepWidth;
    rows.push_back(
        {{"line", end.line}, {"x", end.x}, {"y", end.y}, {"at", end.at}, {"at_edge", at_edge}});
  }
  return rows;
}

Json line_name_layers(const Json& x, const Json& y, const Json& colours, const Json& shapes) {
  const Json at = {{"field", "at"}, {"type", "quantitative"}, {"scale", nullptr}};
  Json colour = colours;
  colour["legend"] = nullptr;
  Json shape = shapes;
  shape["legend"] = nullptr;
  // The leader's end at the name is in pixels, so it must bypass the scale: an expression.
  Json leaders = {{"name", "line-name-leaders"},
                  {"data", {{"name", "line names"}}},
                  {"transform", {{{"filter", "datum.at_edge"}}}},
                  {"mark", mark("rule", "name-leader")},
                  {"encoding",
                   {{"x", x},
                    {"y", y},
                    {"x2", {{"value", kSweepWidth + 12}}},
                    {"y2", {{"value", {{"expr", "datum.at"}}}}},
                    {"color", colour}}}};
  Json swatches = layer(
      "line-name-marks", "line names", mark("point", "predicted", {{"filled", true}, {"size", 44}}),
      {{"x", {{"value", kSweepWidth + 18}}}, {"y", at}, {"color", colour}, {"shape", shape}});
  Json texts =
      layer("line-names", "line names",
            mark("text", "roof-label", {{"align", "left"}, {"baseline", "middle"}, {"limit", 280}}),
            {{"x", {{"value", kSweepWidth + 26}}}, {"y", at}, {"text", {{"field", "line"}}}});
  return Json::array({std::move(leaders), std::move(swatches), std::move(texts)});
}

}  // namespace roofcast::reports
