// Tokens a second of a model over its batch, and against latency.
#include <algorithm>
#include <cmath>

#include "model/types/problem.hpp"
#include "reports/model_charts.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/point_labels.hpp"
#include "reports/sweep_axes.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kHeight = 340;
constexpr std::size_t kMostLines = 10;

std::vector<std::string> lines_of(const std::vector<ModelPoint>& points) {
  std::vector<std::string> lines;
  for (const ModelPoint& point : points) add_once(lines, point.line);
  if (lines.size() > kMostLines) {
    throw InputError("a chart has up to 10 lines: vary fewer values beside batch");
  }
  return lines;
}

Json rows_of(const std::vector<ModelPoint>& points) {
  Json rows = Json::array();
  for (const ModelPoint& point : points) {
    rows.push_back({{"line", point.line},
                    {"requests", point.requests},
                    {"rate", point.tokens_per_s},
                    {"low", point.low_tokens_per_s},
                    {"high", point.high_tokens_per_s},
                    {"latency", point.latency_s},
                    {"name", std::to_string(static_cast<std::int64_t>(point.requests))},
                    {"rate_text", si(point.tokens_per_s, "token/s")},
                    {"latency_text", si(point.latency_s, "s")}});
  }
  return rows;
}

/// A logarithmic axis if positive values span more than 16 to 1, else a linear one from 0.
Json axis_of(const char* field, const std::string& title, std::string_view unit, double low,
             double high, double pixels) {
  constexpr double kMostLinear = 16;
  constexpr double kRoom = 1.15;
  if (low > 0 && high > kMostLinear * low) {
    return LogAxis{low / kRoom, high * kRoom, pixels, title, std::string(unit)}.channel(field);
  }
  return linear_channel(field, title, {0, high > 0 ? kRoom * high : 1},
                        {{"labelExpr", si_label(unit)},
                         {"labelOverlap", true},
                         {"tickCount", is_narrow(pixels) ? 3 : 6}});
}

struct Channels {
  Json x;
  Json y;
};

/// The axes of a chart of tokens a second over the member `x`.
Channels channels_of(const std::vector<ModelPoint>& points, double ModelPoint::*x,
                     const char* field, const std::string& title, std::string_view unit,
                     double width) {
  double left = HUGE_VAL, right = 0, low = HUGE_VAL, high = 0;
  for (const ModelPoint& point : points) {
    left = std::min(left, point.*x);
    right = std::max(right, point.*x);
    low = std::min(low, point.low_tokens_per_s);
    high = std::max(high, point.high_tokens_per_s);
  }
  return {axis_of(field, title, unit, left, right, width),
          axis_of("rate", "Tokens a second, all GPUs", "token/s", low, high, kHeight)};
}

Json line_layers(const Channels& at, const std::vector<std::string>& lines, double width) {
  Json colours = colour("line", lines, "", legend_columns(lines, narrow_room(width), 2));
  colours["legend"]["labelLimit"] = 0;
  if (lines.size() < 2) colours["legend"] = nullptr;
  Json forms = shapes("line", lines);
  forms["legend"] = colours["legend"];
  Json layers = Json::array();
  layers.push_back(
      layer("lines", "points", mark("line", "forecast"),
            {{"x", at.x}, {"y", at.y}, {"color", colours}, {"order", {{"field", "requests"}}}}));
  layers.push_back(layer("marks", "points",
                         mark("point", "measured", {{"filled", true}, {"size", 60}}),
                         {{"x", at.x},
                          {"y", at.y},
                          {"color", colours},
                          {"shape", forms},
                          {"tooltip", tooltip({{"line", "On"},
                                               {"name", "Sequences"},
                                               {"rate_text", "Rate"},
                                               {"latency_text", "Latency"}})}}));
  return layers;
}

/// Covers a line with small boxes.
void add_line(std::vector<Box>& boxes, const Pixel& from, const Pixel& to) {
  constexpr double kStep = 4;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  for (double along = 0; along < length; along += kStep) {
    const double x = from.x + along / length * (to.x - from.x);
    const double y = from.y + along / length * (to.y - from.y);
    boxes.push_back({x - 1, y - 1, x + 1, y + 1});
  }
}

/// The number of sequences beside each point that has room for it.
Json names_of(const std::vector<ModelPoint>& points, const Channels& at, double width) {
  constexpr double kRadius = 5;
  std::vector<std::string> texts;
  std::vector<Pixel> anchors;
  Obstacles obstacles{{}, {}, width, kHeight};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ModelPoint& point = points[i];
    const Pixel p{axis_position(at.x, point.latency_s, width),
                  axis_position(at.y, point.tokens_per_s, kHeight)};
    if (i > 0 && points[i - 1].line == point.line) {
      add_line(obstacles.avoided, anchors.back(), p);
    }
    texts.push_back(std::to_string(static_cast<std::int64_t>(point.requests)));
    anchors.push_back(p);
    obstacles.taken.push_back({p.x - kRadius, p.y - kRadius, p.x + kRadius, p.y + kRadius});
  }
  Json rows = Json::array();
  for (const auto& label : point_labels(texts, anchors, obstacles)) {
    if (!label || label->tip) continue;  // too far from its point to be read as its name
    rows.push_back({{"text", label->text}, {"x", label->at.x}, {"y", kHeight - label->at.y}});
  }
  return rows;
}

}  // namespace

std::string model_rate_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                             double width) {
  expect_points(points);
  const Channels at =
      channels_of(points, &ModelPoint::requests, "requests", axes.requests, "", width);
  Json layers = line_layers(at, lines_of(points), width);
  Json low = at.y;
  low["field"] = "low";
  layers.insert(layers.begin(), layer("intervals", "points", mark("area", "interval"),
                                      {{"x", at.x},
                                       {"y", low},
                                       {"y2", {{"field", "high"}}},
                                       {"color", layers[0]["encoding"]["color"]}}));
  return layered(chart("Tokens a second: " + axes.title, "Band: interval of the forecast",
                       {{"points", rows_of(points)}}),
                 width, kHeight, std::move(layers), width);
}

std::string model_latency_chart(const ModelAxes& axes, const std::vector<ModelPoint>& points,
                                double width) {
  expect_points(points);
  const Channels at =
      channels_of(points, &ModelPoint::latency_s, "latency", axes.latency, "s", width);
  Json layers = line_layers(at, lines_of(points), width);
  const auto placed = [](const char* field) -> Json {
    return {{"field", field}, {"type", "quantitative"}, {"scale", nullptr}};
  };
  layers.push_back(layer("names", "names",
                         mark("text", "point-name", {{"align", "left"}, {"baseline", "middle"}}),
                         {{"x", placed("x")}, {"y", placed("y")}, {"text", {{"field", "text"}}}}));
  return layered(
      chart("Tokens a second against latency: " + axes.title, "Beside each point: " + axes.requests,
            {{"points", rows_of(points)}, {"names", names_of(points, at, width)}}),
      width, kHeight, std::move(layers), width);
}

}  // namespace roofcast::reports
