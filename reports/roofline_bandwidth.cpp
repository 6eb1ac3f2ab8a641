#include <algorithm>
#include <cmath>

#include "reports/bar_names.hpp"
#include "reports/roofline_dots.hpp"
#include "reports/roofline_roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr std::size_t kMostBars = 24;
constexpr double kBar = 12;
constexpr double kGap = 10;
constexpr double kFigure = 60;  ///< px of "4.79 TB/s" and the space before it

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
  Json rows = Json::array();
  std::vector<std::string> labels;
  double most = roofs.memory.empty() ? 0 : roofs.memory.back().highest();
  for (const RooflinePoint& point : points) {
    if (!only_moves(point) || rows.size() == kMostBars) continue;
    rows.push_back(bar_row(point));
    labels.push_back(point.label);
    most = std::max({most, point.dram_bytes_per_s, point.measured_dram_bytes_per_s.value_or(0)});
  }
  if (rows.empty()) return nullptr;
  const bool narrow = is_narrow(width);
  // The left edges of this frame and the roofline's align; values stand right of this frame.
  const double beside = narrow ? width - kFigure : width;
  const BarNames bars(labels, beside, beside, kBar, kGap);
  const double frame = bars.frame();
  const std::string roofs_said = roofs.memory.empty() ? "" : " (| datasheet, ¦ sustained)";
  const auto x = [&](const char* field) -> Json {
    return linear_channel(field,
                          narrow ? "DRAM bandwidth without FLOPs"
                                 : "DRAM bandwidth of kernels without FLOPs" + roofs_said,
                          {0, 1.12 * most},
                          {{"labelExpr", si_label("B/s")}, {"tickCount", narrow ? 3 : 6}});
  };
  const Json y = bars.y("name");
  const Json shown =
      tooltip({{"name", "Kernel"}, {"text", "Predicted"}, {"measured_text", "Measured"}});
  Json layers = Json::array();
  layers.push_back(layer("bandwidth-bars", "bandwidths",
                         bars.moved(mark("bar", "bandwidth", {{"height", kBar}})),
                         {{"x", x("bytes_per_s")}, {"y", y}, {"tooltip", shown}}));
  layers.push_back(layer("bandwidth-texts", "bandwidths",
                         bars.moved(mark("text", "bar-text", {{"align", "left"}})),
                         {{"x", {{"value", frame + 6}}}, {"y", y}, {"text", {{"field", "text"}}}}));
  Json measured = layer("bandwidth-measured", "bandwidths",
                        bars.moved(mark("point", "measured", {{"filled", true}, {"size", 60}})),
                        {{"x", x("measured")}, {"y", y}, {"tooltip", shown}});
  measured["transform"] = {{{"filter", "isValid(datum.measured)"}}};
  layers.push_back(std::move(measured));
  layers.push_back(
      layer("bandwidth-roofs", "bandwidth roofs", mark("rule", "memory-roof"),
            {{"x", x("x")},
             {"strokeDash",
              {{"field", "what"},
               {"type", "nominal"},
               {"scale", {{"domain", {"datasheet", "sustained"}}, {"range", {{1, 0}, {5, 4}}}}},
               {"legend", nullptr}}}}));
  data["bandwidths"] = std::move(rows);
  data["bandwidth roofs"] = roof_rows(roofs);
  bars.add_layer(layers, data);
  return {{"width", frame}, {"height", bars.height()}, {"layer", std::move(layers)}};
}

}  // namespace roofcast::reports
