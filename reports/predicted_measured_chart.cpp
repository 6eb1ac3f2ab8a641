#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "reports/chart.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using validation::Comparison;
using validation::Row;

constexpr double kTolerance = 0.1;
constexpr std::size_t kMany = 40;

bool drawable(const Row& row) {
  return std::isfinite(row.time_s.measured) && row.time_s.measured > 0 &&
         std::isfinite(row.time_s.predicted) && row.time_s.predicted > 0;
}

/// The bound of an interval if it is a positive time, else `value`.
double time_or(double bound, double value) {
  return std::isfinite(bound) && bound > 0 ? bound : value;
}

/// What colour and shape distinguish: families, or the kernels of the only family.
std::string group_of(const Row& row, bool one_family) {
  return one_family ? row.kernel : row.family;
}

Json case_rows(const std::vector<const Row*>& rows, bool one_family) {
  Json cases = Json::array();
  for (const Row* row : rows) {
    const double predicted = row->time_s.predicted;
    const double measured = row->time_s.measured;
    const double low = time_or(row->predicted_low_s, predicted);
    const double high = time_or(row->predicted_high_s, predicted);
    const double p10 = time_or(row->measured_low_s, measured);
    const double p90 = time_or(row->measured_high_s, measured);
    cases.push_back({{"group", group_of(*row, one_family)},
                     {"kernel", row->kernel},
                     {"problem", row->problem_text},
                     {"predicted", predicted},
                     {"low", low},
                     {"high", high},
                     {"measured", measured},
                     {"p10", p10},
                     {"p90", p90},
                     {"error", row->time_s.error()},
                     {"bytes", row->work_dram_bytes},
                     {"predicted_text",
                      si(predicted, "s") + " (" + si(low, "s") + " to " + si(high, "s") + ")"},
                     {"measured_text",
                      si(measured, "s") + " (p10 " + si(p10, "s") + ", p90 " + si(p90, "s") + ")"},
                     {"error_text", signed_percent(row->time_s.error())},
                     {"limit_text", si(row->limit_s, "s")},
                     {"bytes_text", si(row->work_dram_bytes, "B")},
                     {"bound", name(row->bound)}});
  }
  return cases;
}

/// The range of the positive values added to it. `fallback` is for an axis without values.
class Domain {
 public:
  void add(double value) {
    if (!std::isfinite(value) || value <= 0) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  LogAxis axis(double margin, double pixels, std::string title, std::string unit,
               double fallback) const {
    const bool empty = low_ > high_;
    return {(empty ? fallback : low_) / margin, (empty ? 100 * fallback : high_) * margin, pixels,
            std::move(title), std::move(unit)};
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = 0;
};

Json case_tooltip() {
  return tooltip({{"kernel", "Kernel"},
                  {"problem", "Problem"},
                  {"predicted_text", "Predicted"},
                  {"measured_text", "Measured"},
                  {"error_text", "Error"},
                  {"limit_text", "Limit"},
                  {"bound", "Bound by"},
                  {"bytes_text", "DRAM bytes"}});
}

/// Opacity `shown` for the names picked in the legend (all at first); others fade.
Json faded(double shown) {
  return {{"condition", {{"param", "chosen"}, {"value", shown}}}, {"value", 0.05}};
}

/// A panel's title; the subtitle's two parts stand in one line, or in two if the panel is narrow.
Json panel_title(std::string_view text, const std::array<std::string, 2>& words, double pixels) {
  Json subtitle = words;
  if (pixels >= kTimesWidth) subtitle = words[0] + " " + words[1];
  return {{"text", text}, {"subtitle", std::move(subtitle)}, {"style", "panel-title"}};
}

/// The mark of a case: smaller, with a finer outline, if there are many.
Json dot(std::size_t cases) {
  if (cases <= kMany) return mark("point", "measured", {{"filled", true}, {"size", 60}});
  return mark("point", "measured", {{"filled", true}, {"size", 40}, {"strokeWidth", 0.5}});
}

Json time_panel(const LogAxis& measured, const LogAxis& predicted, const Json& colours,
                const Json& forms, const Json& dots) {
  const auto both = [&](std::string_view x, std::string_view y) -> Json {
    return {{"x", measured.channel(x)}, {"y", predicted.channel(y)}};
  };
  Json band = both("x", "low");
  band["y2"] = {{"field", "high"}};
  Json across = both("p10", "predicted");
  across["x2"] = {{"field", "p90"}};
  Json along = both("measured", "low");
  along["y2"] = {{"field", "high"}};
  for (Json* bar : {&across, &along}) {
    (*bar)["color"] = colours;
    (*bar)["opacity"] = faded(0.75);
  }
  Json points = both("measured", "predicted");
  points["color"] = colours;
  points["shape"] = forms;
  points["opacity"] = faded(1);
  points["tooltip"] = case_tooltip();

  Json layers = Json::array();
  layers.push_back(
      layer("tolerance", "diagonal", mark("area", "tolerance", {{"clip", true}}), band));
  layers.push_back(
      layer("diagonal", "diagonal", mark("line", "reference", {{"clip", true}}), both("x", "x")));
  layers.push_back({{"name", "measured-spread"},
                    {"mark", mark("rule", "error-bar", {{"clip", true}})},
                    {"encoding", across}});
  layers.push_back({{"name", "predicted-interval"},
                    {"mark", mark("rule", "error-bar", {{"clip", true}})},
                    {"encoding", along}});
  layers.push_back({{"name", "cases"},
                    {"params",
                     {{{"name", "chosen"},
                       {"select", {{"type", "point"}, {"fields", Json::array({"group"})}}},
                       {"bind", "legend"}}}},
                    {"mark", dots},
                    {"encoding", points}});
  return {{"title", panel_title("Time", {"Band: ±10%. Above the line:", "faster than forecast."},
                                measured.pixels)},
          {"width", measured.pixels},
          {"height", measured.pixels},
          {"layer", layers}};
}

Json error_panel(const LogAxis& bytes, double reach, const Json& colours, const Json& forms,
                 const Json& dots) {
  const Json error = linear_channel(
      "error", "Error of predicted time", {-std::min(reach, 1.0), reach},
      {{"labelExpr", "datum.value == 0 ? '0%' : format(datum.value, '+.0%')"}, {"tickCount", 9}});
  Json points = {{"x", bytes.channel("bytes")},
                 {"y", error},
                 {"color", colours},
                 {"shape", forms},
                 {"opacity", faded(1)},
                 {"tooltip", case_tooltip()}};
  Json layers = Json::array();
  layers.push_back(
      {{"name", "error-tolerance"},
       {"data", {{"values", {Json::object()}}}},
       {"mark", mark("rect", "tolerance")},
       {"encoding", {{"y", at_value(error, -kTolerance)}, {"y2", {{"datum", kTolerance}}}}}});
  layers.push_back({{"name", "no-error"},
                    {"data", {{"values", {Json::object()}}}},
                    {"mark", mark("rule", "reference")},
                    {"encoding", {{"y", at_value(error, 0)}}}});
  layers.push_back({{"name", "errors"},
                    {"transform", {{{"filter", "datum.bytes > 0"}}}},
                    {"mark", dots},
                    {"encoding", points}});
  return {
      {"title", panel_title("Error over size", {"Band: ±10%. Below zero:", "slower than forecast."},
                            bytes.pixels)},
      {"width", bytes.pixels},
      {"height", bytes.pixels},
      {"layer", layers}};
}

}  // namespace

std::string predicted_measured_chart(const Comparison& comparison, double width) {
  std::vector<const Row*> rows;
  std::set<std::string> families;
  for (const Row& row : comparison.rows) {
    if (!drawable(row)) continue;
    rows.push_back(&row);
    families.insert(row.family);
  }
  const bool one_family = families.size() <= 1;

  Domain times;
  Domain sizes;
  double reach = 2 * kTolerance;
  std::vector<std::string> groups;
  for (const Row* row : rows) {
    for (const double time : {row->time_s.predicted, row->time_s.measured, row->predicted_low_s,
                              row->predicted_high_s, row->measured_low_s, row->measured_high_s}) {
      times.add(time);
    }
    sizes.add(row->work_dram_bytes);
    reach = std::max(reach, 1.08 * std::abs(row->time_s.error()));
    add_once(groups, group_of(*row, one_family));
  }
  const bool narrow = width < kTimesWidth;
  const LogAxis measured = times.axis(
      1.35, width,
      narrow ? "Measured (bar: p10 to p90)" : "Measured time (median; bar: p10 to p90)", "s", 1e-5);
  LogAxis predicted = measured;
  predicted.title = narrow ? "Predicted (bar: low to high)" : "Predicted time (bar: low to high)";
  const LogAxis bytes = sizes.axis(1.5, width, "DRAM bytes moved (predicted)", "B", 1e6);

  Json data;
  data["cases"] = case_rows(rows, one_family);
  data["diagonal"] = Json::array();
  for (const double x : {measured.low, measured.high}) {
    data["diagonal"].push_back(
        {{"x", x}, {"low", x * (1 - kTolerance)}, {"high", x * (1 + kTolerance)}});
  }

  const Json colours = colour("group", groups, "",
                              legend_columns(groups, narrow ? narrow_room(width) : 2 * width, 7));
  Json forms = shapes("group", groups);
  forms["legend"] = colours["legend"];
  Json spec =
      chart("Predicted against measured",
            comparison.device + ", " + std::to_string(rows.size()) + " cases", std::move(data));
  spec["data"] = {{"name", "cases"}};
  spec["spacing"] = 44;
  const Json dots = dot(rows.size());
  spec[narrow ? "vconcat" : "hconcat"] = {time_panel(measured, predicted, colours, forms, dots),
                                          error_panel(bytes, reach, colours, forms, dots)};
  if (narrow) make_narrow(spec, width);
  return json_text(spec);
}

}  // namespace roofcast::reports
