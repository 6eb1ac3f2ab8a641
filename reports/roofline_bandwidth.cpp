#include <algorithm>
#include <cmath>

#include "reports/point_labels.hpp"
#include "reports/roofline_dots.hpp"
#include "reports/roofline_roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr std::size_t kMostBars = 24;
constexpr double kBar = 22;
constexpr double kNames = 220;

bool only_moves(const RooflinePoint& point) {
  return point.predicted_flops_per_s == 0 && std::isfinite(point.dram_bytes_per_s) &&
         point.dram_bytes_per_s > 0;
}

Json bar_row(const RooflinePoint& point) {
  Json row = {{"name", point.label},
              {"bytes_per_s", point.dram_bytes_per_s},
              {"text", si(point.dram_bytes_per_s, "B/s")}};
  if (point.measured_dram_bytes_per_s) {
    row["measured"] = *point.measured_dram_bytes_per_s;
    row["measured_text"] = si(*point.measured_dram_bytes_per_s, "B/s");
  }
  return row;
}

Json roof_rows(const Roofs& roofs) {
  Json rows = Json::array();
  for (const MemoryRoof& roof : roofs.memory) {
    if (roof.level != "DRAM") continue;
    if (roof.sheet_bytes_per_s) {
      rows.push_back({{"x", *roof.sheet_bytes_per_s}, {"what", "datasheet"}});
    }
    if (roof.sustained_bytes_per_s) {
      rows.push_back({{"x", *roof.sustained_bytes_per_s}, {"what", "sustained"}});
    }
  }
  return rows;
}

}  // namespace

Json bandwidth_panel(Json& data, const std::vector<RooflinePoint>& points, const Roofs& roofs,
                     double width) {
  Json bars = Json::array();
  double longest = 0;
  double most = roofs.memory.empty() ? 0 : roofs.memory.back().highest();
  for (const RooflinePoint& point : points) {
    if (!only_moves(point) || bars.size() == kMostBars) continue;
    bars.push_back(bar_row(point));
    longest = std::max(longest, text_width(point.label));
    most = std::max({most, point.dram_bytes_per_s, point.measured_dram_bytes_per_s.value_or(0)});
  }
  if (bars.empty()) return nullptr;
  data["bandwidths"] = bars;
  data["bandwidth roofs"] = roof_rows(roofs);
  const auto x = [&](const char* field) -> Json {
    return {{"field", field},
            {"type", "quantitative"},
            {"title", is_narrow(width)
                          ? "DRAM bandwidth without FLOPs"
                          : "DRAM bandwidth of kernels without FLOPs (| datasheet, ¦ sustained)"},
            {"scale", {{"domain", {0, 1.12 * most}}, {"nice", false}}},
            {"axis", {{"labelExpr", si_label("B/s")}, {"tickCount", is_narrow(width) ? 3 : 6}}}};
  };
  const bool narrow = is_narrow(width);
  Json y = {{"field", "name"},
            {"type", "nominal"},
            {"sort", nullptr},
            {"title", nullptr},
            {"axis",
             {{"labelLimit", kNames},
              {"labelAlign", "left"},
              {"labelPadding", std::min(kNames, longest) + 4},
              {"ticks", false},
              {"domain", false}}}};
  // A narrow frame has no room beside it: names stand over their bars.
  if (narrow) y["axis"] = nullptr;
  const Json shown =
      tooltip({{"name", "Kernel"}, {"text", "Predicted"}, {"measured_text", "Measured"}});
  Json layers = Json::array();
  layers.push_back(layer("bandwidth-bars", "bandwidths", mark("bar", "bandwidth", {{"height", 12}}),
                         {{"x", x("bytes_per_s")}, {"y", y}, {"tooltip", shown}}));
  layers.push_back(layer("bandwidth-texts", "bandwidths",
                         mark("text", "bar-text", {{"align", "left"}}),
                         {{"x", {{"value", width + 6}}}, {"y", y}, {"text", {{"field", "text"}}}}));
  if (narrow) {
    layers.push_back(layer("bandwidth-names", "bandwidths",
                           mark("text", "bar-text", {{"align", "left"}, {"dy", -14}}),
                           {{"x", {{"value", 0}}}, {"y", y}, {"text", {{"field", "name"}}}}));
  }
  Json measured = layer("bandwidth-measured", "bandwidths",
                        mark("point", "measured", {{"filled", true}, {"size", 60}}),
                        {{"x", x("measured")}, {"y", y}, {"tooltip", shown}});
  measured["transform"] = {{{"filter", "isValid(datum.measured)"}}};
  layers.push_back(std::move(measured));
  Json rules =
      layer("bandwidth-roofs", "bandwidth roofs", mark("rule", "memory-roof"),
            {{"x", x("x")},
             {"strokeDash",
              {{"field", "what"},
               {"type", "nominal"},
               {"scale", {{"domain", {"datasheet", "sustained"}}, {"range", {{1, 0}, {5, 4}}}}},
               {"legend", nullptr}}}});
  layers.push_back(std::move(rules));
  return {{"width", width},
          {"height", (narrow ? 2 * kBar : kBar) * static_cast<double>(bars.size())},
          {"layer", std::move(layers)}};
}

}  // namespace roofcast::reports
