#include "reports/sweep_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "reports/plot.hpp"
#include "reports/text.hpp"
#include "reports/wave_marks.hpp"

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
  if (quantity.unit == "×") return figure_text(value, 3) + "×";
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

bool is_power_of_two(double value) {
  return value >= 1 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Sizes doubled from one to the next stand at equal distances.
bool is_geometric(const std::vector<double>& values) {
  return values.size() > 3 && std::all_of(values.begin(), values.end(), is_power_of_two);
}

/// Ticks stand at swept values, where they are many at powers of two or every so many; their labels
/// are made here, since Vega has no binary prefixes.
Json x_axis(const SweepPlot& plot, bool log) {
  constexpr std::size_t kMostTicks = 14;
  const std::vector<double> values = swept_values(plot);
  const std::size_t every = (values.size() + kMostTicks - 1) / kMostTicks;
  Json axis = {{"labelOverlap", true}, {"grid", false}};
  // Many values on a linear axis: round numbers are better than every so many of the swept.
  if (!log && every > 1) {
    // Neighbours of a large size differ in their last digits.
    constexpr double kNarrow = 0.9;
    const bool narrow = values.front() > kNarrow * values.back();
    axis["format"] = narrow ? "d" : "~s";
    if (narrow) axis["tickCount"] = 8;
    return axis;
  }
  std::vector<double> shown;
  if (every > 1)
    std::copy_if(values.begin(), values.end(), std::back_inserter(shown), is_power_of_two);
  if (shown.size() < 3 || shown.size() > kMostTicks) {
    shown.clear();
    for (std::size_t i = 0; i < values.size(); i += every) shown.push_back(values[i]);
  }
  std::string labels;
  for (const double value : shown) {
    labels += fmt::format("{}'{}':'{}'", labels.empty() ? "" : ",", std::llround(value),
                          size_label(value));
  }
  axis["values"] = shown;
  axis["labelExpr"] = "{" + labels + "}[toString(datum.value)]";
  return axis;
}

Json x_channel(const SweepPlot& plot) {
  Span span;
  const std::vector<double> values = swept_values(plot);
  for (const double x : values) span.add(x);
  const bool log = span.logarithmic() || is_geometric(values);
  // Room for the first and last point beside the frame.
  const double margin = log ? std::pow(span.high() / span.low(), 0.015)
                            : std::max(0.015 * (span.high() - span.low()), 1e-9);
  const double low = log ? span.low() / margin : span.low() - margin;
  const double high = log ? span.high() * margin : span.high() + margin;
  return {{"field", "x"},
          {"type", "quantitative"},
          {"title", plot.x_title},
          {"scale", {{"type", log ? "log" : "linear"}, {"domain", {low, high}}, {"nice", false}}},
          {"axis", x_axis(plot, log)}};
}

/// An expression for the labels of the quantity's axis.
std::string y_label(const Quantity& quantity) {
  if (quantity.unit == "%") return "format(datum.value, '.0%')";
  if (quantity.unit == "×") return "format(datum.value, '~g') + '×'";
  if (quantity.unit.empty()) return "format(datum.value, '~s')";
  return si_label(quantity.unit);
}

Json y_channel(const SweepPlot& plot) {
  const Quantity& quantity = *plot.quantity;
  Span span;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      span.add(point.value);
      span.add(point.measured.value_or(point.value));
      if (plot.scattered) continue;  // no intervals are drawn
      span.add(point.low.value_or(point.value));
      span.add(point.high.value_or(point.value));
    }
  }
  constexpr double kRoom = 1.15;
  if (span.logarithmic() && quantity.unit != "%") {
    const LogAxis axis{span.low() / kRoom, span.high() * kRoom, kHeight,
                       std::string(quantity.title), std::string(quantity.unit)};
    Json channel = axis.channel("y");
    channel["axis"]["labelExpr"] = y_label(quantity);
    return channel;
  }
  const Json axis = {{"tickCount", 6}, {"labelExpr", y_label(quantity)}};
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
      if (row.contains("low") && !plot.scattered) rows.intervals.push_back(row);
      if (!point.measured || !std::isfinite(*point.measured)) continue;
      row["y"] = *point.measured;
      rows.measured.push_back(std::move(row));
    }
  }
  return rows;
}

/// Whether one line would cover the other: at half of its points or more the values are the same.
bool coincide(const SweepLine& a, const SweepLine& b) {
  constexpr double kSame = 0.01;
  const auto covered = std::count_if(a.points.begin(), a.points.end(), [&](const SweepPoint& p) {
    return std::any_of(b.points.begin(), b.points.end(), [&](const SweepPoint& q) {
      return p.x == q.x && std::abs(p.value - q.value) <= kSame * std::abs(q.value);
    });
  });
  return covered > 0 && 2 * static_cast<std::size_t>(covered) >= a.points.size();
}

/// Solid lines; one that lies over others is dashed, the finer the more there are below it.
Json dashes(const std::vector<SweepLine>& lines) {
  const Json patterns = {{1, 0}, {8, 8}, {3, 13}};
  Json range = Json::array();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::size_t below = 0;
    for (std::size_t j = 0; j < i; ++j) below += coincide(lines[i], lines[j]) ? 1 : 0;
    range.push_back(patterns[std::min(below, patterns.size() - 1)]);
  }
  return range;
}

}  // namespace

std::string sweep_chart(const SweepPlot& plot) {
  Rows rows = rows_of(plot);
  std::vector<std::string> names;
  for (const SweepLine& line : plot.lines) add_once(names, line.label);

  std::string subtitle = plot.subtitle;
  if (!rows.intervals.empty()) subtitle += " · band: interval of the forecast";
  const bool marks = !rows.measured.empty();
  if (marks) subtitle += plot.scattered ? " · ○ forecast ● measured" : " · ● measured";
  WaveMarks waves = wave_marks(plot);
  const bool has_waves = !waves.rows.empty();

  const Json x = x_channel(plot);
  const Json y = y_channel(plot);
  std::size_t longest = 1;
  for (const std::string& name : names) longest = std::max(longest, name.size());
  constexpr std::size_t kLettersARow = 96;
  const std::size_t most = std::clamp<std::size_t>(kLettersARow / longest, 1, 6);
  const std::size_t entry_rows = std::max<std::size_t>(1, (names.size() + most - 1) / most);
  const auto columns = static_cast<int>((names.size() + entry_rows - 1) / entry_rows);
  Json colours = colour("line", names, plot.legend, columns);
  colours["legend"]["symbolType"] = plot.scattered ? "circle" : "stroke";
  colours["legend"]["labelLimit"] = kWidth;
  if (!plot.legend.empty()) colours["legend"]["titleLimit"] = kWidth;
  if (!plot.colours.empty()) {
    colours["scale"]["domain"] = plot.colours;
    colours["legend"]["values"] = names;
  }
  const Json shown = tooltip({{"line", "Line"},
                              {"problem", "Problem"},
                              {"predicted", "Predicted"},
                              {"measured", "Measured"},
                              {"error", "Error"}});

  Json interval = {{"x", x}, {"y", y}, {"y2", {{"field", "high"}}}, {"color", colours}};
  interval["y"]["field"] = "low";
  const Json encoding = {{"x", x}, {"y", y}, {"color", colours}};
  Json lines = encoding;
  lines["strokeDash"] = {{"field", "line"},
                         {"type", "nominal"},
                         {"scale", {{"domain", names}, {"range", dashes(plot.lines)}}},
                         {"legend", colours["legend"]}};
  Json points = encoding;
  points["tooltip"] = shown;

  // Where nothing was measured, the points of the forecast show what was asked.
  const double size = plot.scattered ? 26 : marks ? 8 : 22;
  const bool filled = !plot.scattered || !marks;
  Json layers = Json::array();
  if (has_waves) layers = wave_layers(x);
  if (!plot.scattered) {
    layers.push_back({{"name", "intervals"},
                      {"data", {{"name", "intervals"}}},
                      {"mark", mark("area", "interval", {{"clip", true}})},
                      {"encoding", interval}});
    layers.push_back({{"name", "forecasts"},
                      {"data", {{"name", "forecasts"}}},
                      {"mark", mark("line", "forecast")},
                      {"encoding", lines}});
  }
  layers.push_back({{"name", "points"},
                    {"data", {{"name", "forecasts"}}},
                    {"mark", mark("point", "predicted", {{"filled", filled}, {"size", size}})},
                    {"encoding", points}});
  layers.push_back(
      {{"name", "measured"},
       {"data", {{"name", "measured"}}},
       {"mark", mark("point", "measured", {{"filled", true}, {"size", plot.scattered ? 40 : 62}})},
       {"encoding", points}});

  Json datasets = {{"forecasts", std::move(rows.forecasts)},
                   {"intervals", std::move(rows.intervals)},
                   {"measured", std::move(rows.measured)}};
  if (has_waves) datasets["waves"] = std::move(waves.rows);
  Json spec = chart(plot.title, subtitle, std::move(datasets));
  if (has_waves) spec["title"]["subtitle"] = {subtitle, waves.meaning};
  spec["width"] = kWidth;
  spec["height"] = kHeight;
  spec["layer"] = std::move(layers);
  return json_text(spec);
}

}  // namespace roofcast::reports
