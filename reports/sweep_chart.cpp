#include "reports/sweep_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 400;
/// An axis that spans more than this is logarithmic.
constexpr double kLinearSpan = 16;

/// The values along one axis.
class Span {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool empty() const { return low_ > high_; }
  double low() const { return empty() ? 0 : low_; }
  double high() const { return empty() ? 1 : high_; }
  bool logarithmic() const { return !empty() && low_ > 0 && high_ / low_ > kLinearSpan; }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string value_label(const Quantity& quantity, double value) {
  if (quantity.unit == "%") return percent(value);
  if (quantity.unit == "×") return si(value, "").append("×");
  return si(value, quantity.unit);
}

/// 4096 as it is, 1048576 as 1 Mi, 1000000 as 1 M: exact for what people sweep.
std::string size_label(double value) {
  constexpr double kPlain = 16384;
  constexpr double kKibi = 1024;
  if (value < kPlain) return std::to_string(std::llround(value));
  std::string_view unit = " Ki";
  double scaled = value / kKibi;
  for (const std::string_view next : {" Mi", " Gi", " Ti"}) {
    if (scaled < kKibi) break;
    scaled /= kKibi;
    unit = next;
  }
  if (scaled == std::floor(scaled)) {
    return std::to_string(std::llround(scaled)).append(unit);
  }
  return si(value, "");
}

std::vector<double> swept_values(const SweepPlot& plot) {
  std::vector<double> values;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) values.push_back(point.x);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Ticks stand at swept values, every so many of them where they are many; their labels are made
/// here, since Vega has no binary prefixes.
Json x_axis(const SweepPlot& plot, const Span& span) {
  constexpr std::size_t kMostTicks = 14;
  const std::vector<double> values = swept_values(plot);
  const std::size_t every = (values.size() + kMostTicks - 1) / kMostTicks;
  Json axis = {{"labelOverlap", true}, {"grid", false}};
  // Many values on a linear axis: round numbers are better than every so many of the swept.
  if (!span.logarithmic() && every > 1) {
    axis["format"] = "~s";
    return axis;
  }
  Json ticks = Json::array();
  std::string labels;
  for (std::size_t i = 0; i < values.size(); i += every) {
    ticks.push_back(values[i]);
    labels += (labels.empty() ? "" : ",") +
              ("'" + std::to_string(std::llround(values[i])) + "':'" + size_label(values[i]) + "'");
  }
  axis["values"] = ticks;
  axis["labelExpr"] = "{" + labels + "}[toString(datum.value)]";
  return axis;
}

Json x_channel(const SweepPlot& plot) {
  Span span;
  for (const double x : swept_values(plot)) span.add(x);
  const bool log = span.logarithmic();
  // Room for the first and last point beside the frame.
  const double margin = log ? std::pow(span.high() / span.low(), 0.015)
                            : std::max(0.015 * (span.high() - span.low()), 1e-9);
  const double low = log ? span.low() / margin : span.low() - margin;
  const double high = log ? span.high() * margin : span.high() + margin;
  return {{"field", "x"},
          {"type", "quantitative"},
          {"title", plot.x_title},
          {"scale", {{"type", log ? "log" : "linear"}, {"domain", {low, high}}, {"nice", false}}},
          {"axis", x_axis(plot, span)}};
}

Json y_channel(const SweepPlot& plot) {
  const Quantity& quantity = *plot.quantity;
  Span span;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      for (const double y :
           {point.value, point.low.value_or(point.value), point.high.value_or(point.value),
            point.measured.value_or(point.value)}) {
        span.add(y);
      }
    }
  }
  constexpr double kRoom = 1.15;
  if (span.logarithmic() && quantity.unit != "%") {
    const LogAxis axis{span.low() / kRoom, span.high() * kRoom, kHeight,
                       std::string(quantity.title), std::string(quantity.unit)};
    Json channel = axis.channel("y");
    if (quantity.unit.empty()) channel["axis"]["labelExpr"] = "format(datum.value, '~s')";
    return channel;
  }
  Json axis = {{"tickCount", 6}};
  if (quantity.unit == "%") {
    axis["format"] = ".0%";
  } else if (quantity.unit.empty()) {
    axis["labelExpr"] = "format(datum.value, '~s')";
  } else {
    axis["labelExpr"] = si_label(quantity.unit);
  }
  const double top = span.high() > 0 ? span.high() * 1.06 : 1;
  return {{"field", "y"},
          {"type", "quantitative"},
          {"title", quantity.title},
          {"scale", {{"domain", {0, top}}, {"nice", false}}},
          {"axis", axis}};
}

Json point_row(const SweepPlot& plot, const SweepLine& line, const SweepPoint& point) {
  const Quantity& quantity = *plot.quantity;
  Json row = {{"line", line.label},
              {"x", point.x},
              {"y", point.value},
              {"problem", point.problem},
              {"predicted", value_label(quantity, point.value)},
              {"measured", "–"},
              {"error", "–"}};
  if (point.low && point.high) {
    row["low"] = *point.low;
    row["high"] = *point.high;
    row["predicted"] = value_label(quantity, point.value) + " (" +
                       value_label(quantity, *point.low) + " to " +
                       value_label(quantity, *point.high) + ")";
  }
  if (point.measured && *point.measured > 0) {
    row["measured"] = value_label(quantity, *point.measured);
    row["error"] = signed_percent(point.value / *point.measured - 1);
  }
  return row;
}

struct Rows {
  Json forecasts = Json::array();
  Json intervals = Json::array();
  Json measured = Json::array();
};

Rows rows_of(const SweepPlot& plot) {
  Rows rows;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      if (!std::isfinite(point.value)) continue;
      Json row = point_row(plot, line, point);
      rows.forecasts.push_back(row);
      if (row.contains("low")) rows.intervals.push_back(row);
      if (!point.measured || !std::isfinite(*point.measured)) continue;
      row["y"] = *point.measured;
      rows.measured.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

std::string sweep_chart(const SweepPlot& plot) {
  Rows rows = rows_of(plot);
  std::vector<std::string> names;
  for (const SweepLine& line : plot.lines) add_once(names, line.label);

  std::string subtitle = plot.subtitle;
  if (!rows.intervals.empty()) subtitle += " · band: interval of the forecast";
  if (!rows.measured.empty()) subtitle += " · ● measured";
  const bool marks = !rows.measured.empty();

  const Json x = x_channel(plot);
  const Json y = y_channel(plot);
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  constexpr std::size_t kLettersARow = 96;
  const std::size_t most = std::clamp<std::size_t>(kLettersARow / longest, 1, 6);
  const std::size_t entry_rows = std::max<std::size_t>(1, (names.size() + most - 1) / most);
  const auto columns = static_cast<int>((names.size() + entry_rows - 1) / entry_rows);
  Json colours = colour("line", names, "", columns);
  colours["legend"]["symbolType"] = "stroke";
  colours["legend"]["labelLimit"] = kWidth;
  const Json shown = tooltip({{"line", "Line"},
                              {"problem", "Problem"},
                              {"predicted", "Predicted"},
                              {"measured", "Measured"},
                              {"error", "Error"}});

  Json interval = {{"x", x}, {"y", y}, {"y2", {{"field", "high"}}}, {"color", colours}};
  interval["y"]["field"] = "low";
  const Json encoding = {{"x", x}, {"y", y}, {"color", colours}};
  Json points = encoding;
  points["tooltip"] = shown;

  Json layers = Json::array();
  layers.push_back({{"name", "intervals"},
                    {"data", {{"name", "intervals"}}},
                    {"mark", mark("area", "interval", {{"clip", true}})},
                    {"encoding", interval}});
  layers.push_back({{"name", "forecasts"},
                    {"data", {{"name", "forecasts"}}},
                    {"mark", mark("line", "forecast")},
                    {"encoding", encoding}});
  // Where nothing was measured, the points of the forecast show what was asked.
  layers.push_back(
      {{"name", "points"},
       {"data", {{"name", "forecasts"}}},
       {"mark", mark("point", "predicted", {{"filled", true}, {"size", marks ? 8 : 22}})},
       {"encoding", points}});
  layers.push_back({{"name", "measured"},
                    {"data", {{"name", "measured"}}},
                    {"mark", mark("point", "measured", {{"filled", true}, {"size", 62}})},
                    {"encoding", points}});

  Json spec = chart(plot.title, subtitle,
                    {{"forecasts", std::move(rows.forecasts)},
                     {"intervals", std::move(rows.intervals)},
                     {"measured", std::move(rows.measured)}});
  spec["width"] = kWidth;
  spec["height"] = kHeight;
  spec["layer"] = std::move(layers);
  return json_text(spec);
}

}  // namespace roofcast::reports
