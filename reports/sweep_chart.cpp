#include "reports/sweep_chart.hpp"

#include <algorithm>
#include <cmath>

#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/sweep_axes.hpp"
#include "reports/sweep_names.hpp"
#include "reports/text.hpp"
#include "reports/wave_marks.hpp"

namespace roofcast::reports {
namespace {

/// More bands than this are drawn as outlines, since filled ones would hide each other.
constexpr std::size_t kMostFilledBands = 2;

std::string value_label(const Quantity& quantity, double value) {
  if (quantity.unit == "%") return percent(value);
  if (quantity.unit == "×") return figure_text(value, 3) + "×";
  return si(value, quantity.unit);
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

/// Whether b covers a: at half of a's points or more the values differ by at most 1%.
bool coincide(const SweepLine& a, const SweepLine& b) {
  constexpr double kSame = 0.01;
  const auto covered = std::count_if(a.points.begin(), a.points.end(), [&](const SweepPoint& p) {
    return std::any_of(b.points.begin(), b.points.end(), [&](const SweepPoint& q) {
      return p.x == q.x && std::abs(p.value - q.value) <= kSame * std::abs(q.value);
    });
  });
  return covered > 0 && 2 * static_cast<std::size_t>(covered) >= a.points.size();
}

/// Dash pattern per line: solid, or dashed if it covers lines drawn before, finer if several.
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

/// Width of a symbol before a legend's name (px).
constexpr double kSymbol = 24;

/// The legend of a scattered or narrow chart; else lines have names at their ends and no legend.
Json legend_of(const SweepPlot& plot, const std::vector<std::string>& names, double width) {
  const bool narrow = width < kSweepWidth;
  if (!plot.scattered && !narrow) return nullptr;
  Json legend = {{"title", plot.legend.empty() ? Json(nullptr) : Json(plot.legend)},
                 {"orient", "bottom"},
                 {"columns", legend_columns(names, narrow_room(width), 8)},
                 {"values", names},
                 {"labelLimit", narrow_room(width) - kSymbol}};
  if (!plot.legend.empty()) legend["titleLimit"] = narrow_room(width);
  return legend;
}

Json colours_of(const SweepPlot& plot, const std::vector<std::string>& domain, const Json& legend) {
  Json channel = {
      {"field", "line"}, {"type", "nominal"}, {"scale", {{"domain", domain}}}, {"legend", legend}};
  // Labels with an order of their own, such as powers of two, are coloured by lightness.
  if (!plot.colours.empty()) channel["scale"]["range"] = "ordinal";
  return channel;
}

Json interval_layer(const Json& x, const Json& y, const Json& colours, bool filled) {
  Json encoding = {{"x", x}, {"y", y}, {"y2", {{"field", "high"}}}};
  encoding["y"]["field"] = "low";
  if (filled) {
    encoding["color"] = colours;
  } else {
    encoding["fill"] = encoding["stroke"] = colours;
  }
  return layer("intervals", "intervals",
               mark("area", filled ? "interval" : "interval-outline", {{"clip", true}}),
               std::move(encoding));
}

std::string subtitle_of(const SweepPlot& plot, const Rows& rows) {
  std::string subtitle = plot.subtitle;
  if (!rows.intervals.empty()) {
    subtitle += plot.lines.size() > kMostFilledBands ? " · fine dashes: interval of the forecast"
                                                     : " · band: interval of the forecast";
  }
  if (rows.measured.empty()) return subtitle;
  return subtitle +
         (plot.scattered ? " · hollow: forecast, filled: measured" : " · ●\u00a0measured");
}

}  // namespace

std::string sweep_chart(const SweepPlot& plot, double width) {
  Rows rows = rows_of(plot);
  std::vector<std::string> names;
  for (const SweepLine& line : plot.lines) add_once(names, line.label);
  const std::vector<std::string>& domain = plot.colours.empty() ? names : plot.colours;

  const std::string subtitle = subtitle_of(plot, rows);
  const bool marks = !rows.measured.empty();
  WaveMarks waves = wave_marks(plot);
  const bool has_waves = !waves.rows.empty();

  const Json x = sweep_x(plot, width);
  const Json y = sweep_y(plot);
  const Json legend = legend_of(plot, names, width);
  const Json colours = colours_of(plot, domain, legend);
  Json lines = {{"x", x}, {"y", y}, {"color", colours}};
  lines["strokeDash"] = {{"field", "line"},
                         {"type", "nominal"},
                         {"scale", {{"domain", names}, {"range", dashes(plot.lines)}}},
                         {"legend", legend}};
  Json points = {{"x", x}, {"y", y}, {"color", colours}, {"shape", shapes("line", domain)}};
  points["shape"]["legend"] = legend;
  points["tooltip"] = tooltip({{"line", "Line"},
                               {"problem", "Problem"},
                               {"predicted", "Predicted"},
                               {"measured", "Measured"},
                               {"error", "Error"}});

  // Without measurements, larger points of the forecast show the swept values.
  const double size = plot.scattered ? 34 : marks ? 8 : 30;
  const bool filled = !plot.scattered || !marks;
  Json layers = Json::array();
  if (has_waves) layers = wave_layers(x);
  if (!plot.scattered) {
    layers.push_back(interval_layer(x, y, colours, plot.lines.size() <= kMostFilledBands));
    layers.push_back(layer("forecasts", "forecasts", mark("line", "forecast"), lines));
  }
  layers.push_back(layer("points", "forecasts",
                         mark("point", "predicted", {{"filled", filled}, {"size", size}}), points));
  layers.push_back(layer(
      "measured", "measured",
      mark("point", "measured", {{"filled", true}, {"size", plot.scattered ? 44 : 62}}), points));

  Json datasets = {{"forecasts", std::move(rows.forecasts)},
                   {"intervals", std::move(rows.intervals)},
                   {"measured", std::move(rows.measured)}};
  if (!plot.scattered && width >= kSweepWidth) {
    datasets["line names"] = line_names(plot, x, y);
    for (Json& layer : line_name_layers(x, y, colours, shapes("line", domain)))
      layers.push_back(std::move(layer));
  }
  if (has_waves) datasets["waves"] = std::move(waves.rows);
  Json spec = chart(plot.title, subtitle, std::move(datasets));
  if (has_waves) spec["title"]["subtitle"] = {subtitle, waves.meaning};
  return layered(std::move(spec), width, kSweepHeight, std::move(layers), width);
}

}  // namespace roofcast::reports
