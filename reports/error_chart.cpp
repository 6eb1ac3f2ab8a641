#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "reports/chart.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using validation::Row;

constexpr double kTolerance = 0.1;
constexpr double kRow = 30;

double ratio_of(const Row& row) {
  return row.time_s.predicted / row.time_s.measured;
}

bool drawable(const Row& row) {
  const double ratio = ratio_of(row);
  return std::isfinite(ratio) && ratio > 0;
}

Json case_row(const Row& row) {
  return {{"family", row.family},   {"regime", name(row.regime)},
          {"kernel", row.kernel},   {"problem", row.problem_text},
          {"ratio", ratio_of(row)}, {"text", figure_text(ratio_of(row), 3) + "×"}};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Familiar ratios within the axis, fewer of them on a narrow one.
Json ratio_ticks(const LogAxis& axis) {
  Json ticks = Json::array();
  const std::vector<double> all = axis.pixels < kErrorWidth
                                      ? std::vector{0.1, 0.5, 1.0, 2.0, 10.0}
                                      : std::vector{0.1, 0.2,  0.33, 0.5, 0.67, 0.8, 0.9, 1.0,
                                                    1.1, 1.25, 1.5,  2.0, 3.0,  5.0, 10.0};
  for (const double tick : all) {
    if (tick >= axis.low && tick <= axis.high) ticks.push_back(tick);
  }
  return ticks;
}

LogAxis axis_around(const std::vector<const Row*>& rows, double width) {
  double reach = 1.3;
  for (const Row* row : rows) reach = std::max({reach, ratio_of(*row), 1 / ratio_of(*row)});
  return {1 / (1.1 * reach), 1.1 * reach, width, "Predicted time over measured time", ""};
}

Json regime_channels(Json encoding, double width) {
  std::vector<std::string> regimes;
  for (const Regime regime : {Regime::launch_bound, Regime::memory, Regime::compute}) {
    regimes.emplace_back(name(regime));
  }
  encoding["color"] = colour("regime", regimes, "", legend_columns(regimes, width, 3));
  encoding["shape"] = {
      {"field", "regime"},
      {"type", "nominal"},
      {"scale", {{"domain", regimes}, {"range", {"circle", "square", "triangle-up"}}}},
      {"legend", encoding["color"]["legend"]}};
  return encoding;
}

}  // namespace

std::string error_chart(const validation::Comparison& comparison, double width) {
  std::vector<const Row*> rows;
  std::vector<std::string> families;
  std::map<std::string, std::vector<double>> ratios;
  for (const Row& row : comparison.rows) {
    if (!drawable(row)) continue;
    rows.push_back(&row);
    add_once(families, row.family);
    ratios[row.family].push_back(ratio_of(row));
  }
  Json cases = Json::array(), medians = Json::array();
  for (const Row* row : rows) cases.push_back(case_row(*row));
  for (const std::string& family : families) {
    const double middle = median(ratios[family]);
    medians.push_back(
        {{"family", family}, {"ratio", middle}, {"text", figure_text(middle, 3) + "×"}});
  }

  const LogAxis axis = axis_around(rows, width);
  Json x = axis.channel("ratio");
  x["axis"]["values"] = ratio_ticks(axis);
  x["axis"]["labelExpr"] = "format(datum.value, '~r') + '×'";
  const Json y =
      nominal_channel("family", families, {{"grid", true}, {"ticks", false}, {"domain", false}});
  const Json once = {{"values", {Json::object()}}};
  Json points = regime_channels({{"x", x}, {"y", y}}, width);
  points["tooltip"] = tooltip({{"kernel", "Kernel"},
                               {"problem", "Problem"},
                               {"regime", "Regime"},
                               {"text", "Predicted over measured"}});
  Json layers = Json::array();
  layers.push_back(
      {{"name", "ratio-tolerance"},
       {"data", once},
       {"mark", mark("rect", "tolerance")},
       {"encoding", {{"x", at_value(x, 1 - kTolerance)}, {"x2", {{"datum", 1 + kTolerance}}}}}});
  layers.push_back({{"name", "no-ratio"},
                    {"data", once},
                    {"mark", mark("rule", "reference")},
                    {"encoding", {{"x", at_value(x, 1)}}}});
  layers.push_back(layer("ratios", "cases",
                         mark("point", "predicted", {{"filled", false}, {"size", 34}}),
                         std::move(points)));
  layers.push_back(layer("medians", "medians",
                         mark("tick", "reference", {{"thickness", 3}, {"height", 20}}),
                         {{"x", x}, {"y", y}}));
  layers.push_back(
      layer("median-texts", "medians", mark("text", "bar-text", {{"align", "left"}}),
            {{"x", {{"value", axis.pixels + 8}}}, {"y", y}, {"text", {{"field", "text"}}}}));
  return layered(
      chart("Error by family and regime", "Band: ±10%. Bar and number: median of the family.",
            {{"cases", std::move(cases)}, {"medians", std::move(medians)}}),
      axis.pixels, kRow * static_cast<double>(std::max<std::size_t>(families.size(), 1)),
      std::move(layers), width);
}

}  // namespace roofcast::reports
