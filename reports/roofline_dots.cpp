#include "reports/roofline_dots.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reports/roofline_names.hpp"
#include "reports/roofline_roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

std::string place_text(double flops_per_s, double intensity) {
  return si(flops_per_s, "FLOP/s") + " at " +
         (std::isfinite(intensity) ? si(intensity, "FLOP/B") : std::string("no DRAM traffic"));
}

std::string interval_text(const RooflinePoint& point) {
  if (!point.low_flops_per_s || !point.high_flops_per_s) return "–";
  return si(*point.low_flops_per_s, "FLOP/s") + " to " + si(*point.high_flops_per_s, "FLOP/s");
}

Json tooltip_row(const Dot& dot) {
  const RooflinePoint& point = *dot.point;
  Json row = {{"kernel", kernel_of(dot)},
              {"label", point.label},
              {"predicted", place_text(point.predicted_flops_per_s, point.intensity)},
              {"interval", interval_text(point)},
              {"measured", "–"},
              {"error", "–"},
              {"fault", dot.above_roof ? "faster than the limit: an error" : "–"}};
  if (dot.measured) {
    row["measured"] =
        place_text(dot.measured->flops_per_s, point.measured_intensity.value_or(point.intensity));
    // The error of time, predicted ÷ measured − 1: negative if the forecast is too fast.
    row["error"] = signed_percent(dot.measured->flops_per_s / dot.predicted.flops_per_s - 1);
  }
  return row;
}

Json placed(Json row, const Place& place, std::string_view shape) {
  row["intensity"] = place.intensity;
  row["flops_per_s"] = place.flops_per_s;
  row["shape"] = shape;
  return row;
}

std::string_view shape_of(const Dot& dot) {
  if (dot.beyond) return "triangle-right";
  return dot.point->is_limit ? "square" : "circle";
}

std::string_view shape_of(const LevelIntensity& level) {
  return level.level == "L2" ? "diamond" : "triangle-up";
}

/// Arrows from the rim of the predicted point to that of the measured one; none if they touch.
Json arrow_rows(const std::vector<Dot>& dots, const Frame& f) {
  constexpr double kHead = 7;
  Json rows = Json::array();
  for (const Dot& dot : dots) {
    if (!dot.measured) continue;
    const Pixel from = f.pixel(dot.predicted);
    const Pixel to = f.pixel(*dot.measured);
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 2 * kDotRadius) continue;
    const auto along = [&](double pixels) {
      const double share = pixels / length;
      return Place{f.x.value(from.x + share * (to.x - from.x)),
                   f.y.value(from.y + share * (to.y - from.y))};
    };
    const Place begin = along(kDotRadius);
    const Place end = along(length - kDotRadius);
    Json row = {{"kernel", kernel_of(dot)},
                {"x", begin.intensity},
                {"y", begin.flops_per_s},
                {"x2", end.intensity},
                {"y2", end.flops_per_s}};
    // The arrow has a head if there is room for it between the points.
    if (length > 2 * kDotRadius + kHead) {
      const Place head = along(length - kDotRadius - kHead / 2);
      row["head_x"] = head.intensity;
      row["head_y"] = head.flops_per_s;
      row["angle"] = std::atan2(to.x - from.x, to.y - from.y) * 180 / std::numbers::pi;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Adds the line that joins a dot's levels, and the line of its interval.
void add_lines(Json& joins, Json& intervals, const Dot& dot) {
  if (!dot.levels.empty()) {
    double least = dot.predicted.intensity, most = least;
    for (const LevelIntensity& level : dot.levels) {
      least = std::min(least, level.intensity);
      most = std::max(most, level.intensity);
    }
    joins.push_back(
        {{"kernel", kernel_of(dot)}, {"x", least}, {"x2", most}, {"y", dot.predicted.flops_per_s}});
  }
  if (dot.has_interval) {
    intervals.push_back({{"kernel", kernel_of(dot)},
                         {"x", dot.predicted.intensity},
                         {"y", *dot.point->low_flops_per_s},
                         {"y2", *dot.point->high_flops_per_s}});
  }
}

Json dot_layer(const std::string& kind, const std::string& prefix, const Frame& f,
               const Json& colours, int size) {
  const std::string data = prefix + kind;
  return layer(kind, data,
               mark("point", kind == "levels" ? "level" : kind,
                    {{"filled", kind == "measured"}, {"size", size}}),
               {{"x", f.x.channel("intensity")},
                {"y", f.y.channel("flops_per_s")},
                {"color", colours},
                {"shape", {{"field", "shape"}, {"type", "nominal"}, {"scale", nullptr}}},
                {"tooltip", tooltip({{"label", "Kernel"},
                                     {"level", "Level"},
                                     {"predicted", "Predicted"},
                                     {"interval", "Interval"},
                                     {"measured", "Measured"},
                                     {"error", "Error of time"},
                                     {"fault", "Fault"}})}});
}

}  // namespace

std::vector<std::string> add_dots(Json& data, const std::string& prefix, const Frame& f,
                                  const Roofs& roofs, const std::vector<Dot>& dots,
                                  const DotNames& names) {
  Json predicted = Json::array(), measured = Json::array(), levels = Json::array();
  Json joins = Json::array(), intervals = Json::array();
  for (const Dot& dot : dots) {
    Json row = tooltip_row(dot);
    row["level"] = dot.point->is_limit ? "compulsory traffic" : "DRAM";
    predicted.push_back(placed(row, dot.predicted, shape_of(dot)));
    if (dot.measured) measured.push_back(placed(row, *dot.measured, "circle"));
    for (const LevelIntensity& level : dot.levels) {
      const Place place{level.intensity, dot.predicted.flops_per_s};
      Json at = placed(row, place, shape_of(level));
      at["level"] = level.level + ", " + si(level.intensity, "FLOP/B");
      levels.push_back(std::move(at));
    }
    add_lines(joins, intervals, dot);
  }
  data[prefix + "predicted"] = std::move(predicted);
  data[prefix + "measured"] = std::move(measured);
  data[prefix + "levels"] = std::move(levels);
  data[prefix + "joins"] = std::move(joins);
  data[prefix + "intervals"] = std::move(intervals);
  data[prefix + "arrows"] = arrow_rows(dots, f);
  return add_names(data, prefix, f, roofs, dots, names);
}

void add_dot_layers(Json& layers, const std::string& prefix, const Frame& f, const Json& colours,
                    std::size_t dots, const Json& dashes) {
  // Dashes are a channel, not part of the style: else the legend's symbols would be dashed too.
  const Json joined = dashes.is_null() ? Json{{"value", {2, 2}}} : dashes;
  const auto ruled = [&](const char* name, const char* style, bool across_x) {
    Json encoding = f.across();
    encoding[across_x ? "x2" : "y2"] = {{"field", across_x ? "x2" : "y2"}};
    encoding["color"] = colours;
    if (across_x) encoding["strokeDash"] = joined;
    layers.push_back(
        layer(name, prefix + name, mark("rule", style, {{"clip", true}}), std::move(encoding)));
  };
  ruled("joins", "join", true);
  ruled("intervals", "error-bar", false);
  layers.push_back(
      layer("arrows", prefix + "arrows", mark("rule", "arrow"),
            f.across({{"x2", {{"field", "x2"}}}, {"y2", {{"field", "y2"}}}, {"color", colours}})));
  Json heads =
      layer("arrow-heads", prefix + "arrows",
            mark("point", "arrow", {{"shape", "triangle"}, {"filled", true}, {"size", 44}}),
            {{"x", f.x.channel("head_x")},
             {"y", f.y.channel("head_y")},
             {"angle", {{"field", "angle"}, {"type", "quantitative"}, {"scale", nullptr}}},
             {"color", colours}});
  heads["transform"] = {{{"filter", "isValid(datum.angle)"}}};
  layers.push_back(std::move(heads));
  const int size = dots > 24 ? 46 : 78;
  layers.push_back(dot_layer("levels", prefix, f, colours, size * 2 / 3));
  layers.push_back(dot_layer("predicted", prefix, f, colours, size));
  layers.push_back(dot_layer("measured", prefix, f, colours, size));
  add_name_layers(layers, prefix, f);
}

}  // namespace roofcast::reports
