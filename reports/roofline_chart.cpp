#include <algorithm>
#include <cmath>
#include <numbers>

#include "reports/chart.hpp"
#include "reports/plot.hpp"
#include "reports/roof_labels.hpp"
#include "reports/roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 460;

struct Place {
  double intensity;
  double flops_per_s;
};

/// A point that can be drawn, with its measurement if there is one.
struct Dot {
  const RooflinePoint* point;
  Place predicted;
  std::optional<Place> measured;
};

bool drawable(const Place& place) {
  return std::isfinite(place.intensity) && place.intensity > 0 &&
         std::isfinite(place.flops_per_s) && place.flops_per_s > 0;
}

std::vector<Dot> drawable_dots(const std::vector<RooflinePoint>& points) {
  std::vector<Dot> dots;
  for (const RooflinePoint& point : points) {
    Dot dot{&point, {point.intensity, point.predicted_flops_per_s}, std::nullopt};
    if (!drawable(dot.predicted)) continue;
    if (point.measured_flops_per_s) {
      const Place measured{point.measured_intensity.value_or(point.intensity),
                           *point.measured_flops_per_s};
      if (drawable(measured)) dot.measured = measured;
    }
    dots.push_back(dot);
  }
  return dots;
}

struct Frame {
  LogAxis x;
  LogAxis y;
  Pixel pixel(const Place& p) const { return {x.position(p.intensity), y.position(p.flops_per_s)}; }
};

/// Both axes hold every point and the ridge of DRAM with the highest and the lowest roof.
Frame frame(const std::vector<MemoryRoof>& memory, const std::vector<ComputeRoof>& compute,
            const std::vector<Dot>& dots) {
  const double top = compute.empty() ? 1e12 : compute.front().flops_per_s;
  const double bottom = compute.empty() ? 1e12 : compute.back().flops_per_s;
  const double slowest = memory.empty() ? 1e12 : memory.back().lowest();
  double x_low = std::min(bottom / 8, top / 100) / slowest;
  double x_high = top / slowest * 6;
  double y_low = std::min(bottom / 8, top / 300);
  double y_high = top * 1.7;
  for (const Dot& dot : dots) {
    for (const Place& place : {dot.predicted, dot.measured.value_or(dot.predicted)}) {
      x_low = std::min(x_low, place.intensity / 2.5);
      x_high = std::max(x_high, place.intensity * 2.5);
      y_low = std::min(y_low, place.flops_per_s / 2.5);
      y_high = std::max(y_high, place.flops_per_s * 1.7);
    }
  }
  return {{x_low, x_high, kWidth, "Arithmetic intensity (FLOP per DRAM byte)", ""},
          {y_low, y_high, kHeight, "Performance", "FLOP/s"}};
}

Json point_rows(const std::vector<Dot>& dots, bool measured) {
  Json rows = Json::array();
  for (const Dot& dot : dots) {
    if (measured && !dot.measured) continue;
    const Place place = measured ? *dot.measured : dot.predicted;
    Json row = {{"kernel", first_word(dot.point->label)},
                {"label", dot.point->label},
                {"intensity", place.intensity},
                {"flops_per_s", place.flops_per_s},
                {"what", measured ? "measured" : "predicted"},
                {"predicted", si(dot.predicted.flops_per_s, "FLOP/s") + " at " +
                                  si(dot.predicted.intensity, "FLOP/B")},
                {"measured", "–"},
                {"error", "–"}};
    if (dot.measured) {
      row["measured"] =
          si(dot.measured->flops_per_s, "FLOP/s") + " at " + si(dot.measured->intensity, "FLOP/B");
      // Of time, as everywhere else: a forecast that is too fast is negative.
      row["error"] = signed_percent(dot.measured->flops_per_s / dot.predicted.flops_per_s - 1);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// From the rim of the hollow point to the rim of the filled one; none where the two touch.
Json arrow_rows(const std::vector<Dot>& dots, const Frame& f) {
  constexpr double kRadius = 5.5;
  constexpr double kHead = 7;
  Json rows = Json::array();
  for (const Dot& dot : dots) {
    if (!dot.measured) continue;
    const Pixel from = f.pixel(dot.predicted);
    const Pixel to = f.pixel(*dot.measured);
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 2 * kRadius) continue;
    const auto along = [&](double pixels) {
      const double share = pixels / length;
      return Place{f.x.value(from.x + share * (to.x - from.x)),
                   f.y.value(from.y + share * (to.y - from.y))};
    };
    const Place begin = along(kRadius);
    const Place end = along(length - kRadius);
    Json row = {{"kernel", first_word(dot.point->label)},
                {"x", begin.intensity},
                {"y", begin.flops_per_s},
                {"x2", end.intensity},
                {"y2", end.flops_per_s}};
    // A head needs room between the two points.
    if (length > 2 * kRadius + kHead) {
      const Place head = along(length - kRadius - kHead / 2);
      row["head_x"] = head.intensity;
      row["head_y"] = head.flops_per_s;
      row["angle"] = std::atan2(to.x - from.x, to.y - from.y) * 180 / std::numbers::pi;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json line_row(std::string roof, double value, const char* unit, Place from, Place to) {
  return {{"roof", std::move(roof)}, {"value", value},        {"text", si(value, unit)},
          {"x", from.intensity},     {"y", from.flops_per_s}, {"x2", to.intensity},
          {"y2", to.flops_per_s}};
}

struct Roofs {
  std::vector<MemoryRoof> memory;
  std::vector<ComputeRoof> compute;
};

/// Every roof as a line, one data set a style.
void add_roofs(Json& data, const Roofs& roofs, const Frame& f) {
  data["memory roofs"] = data["sustained roofs"] = Json::array();
  data["tensor roofs"] = data["vector roofs"] = data["ridges"] = Json::array();
  const double top = roofs.compute.empty() ? f.y.high : roofs.compute.front().flops_per_s;
  const auto slope = [&](const std::string& roof, double rate) {
    const double begin = std::max(f.x.low, f.y.low / rate);
    const double end = std::min(f.x.high, top / rate);
    return line_row(roof, rate, "B/s", {begin, rate * begin}, {end, rate * end});
  };
  for (const MemoryRoof& roof : roofs.memory) {
    if (roof.sheet_bytes_per_s) {
      data["memory roofs"].push_back(slope(roof.level, *roof.sheet_bytes_per_s));
    }
    if (roof.sustained_bytes_per_s) {
      data["sustained roofs"].push_back(
          slope(roof.level + " sustained", *roof.sustained_bytes_per_s));
    }
  }
  for (const ComputeRoof& roof : roofs.compute) {
    const double fastest = roofs.memory.empty() ? 0 : roofs.memory.front().highest();
    const double begin = fastest > 0 ? std::max(f.x.low, roof.flops_per_s / fastest) : f.x.low;
    const std::string label = roof.pipe + " " + std::string(name(roof.dtype));
    data[roof.pipe == "vector" ? "vector roofs" : "tensor roofs"].push_back(
        line_row(label, roof.flops_per_s, "FLOP/s", {begin, roof.flops_per_s},
                 {f.x.high, roof.flops_per_s}));
    if (roofs.memory.empty() || !roofs.memory.back().sheet_bytes_per_s) continue;
    const double ridge = roof.flops_per_s / *roofs.memory.back().sheet_bytes_per_s;
    data["ridges"].push_back({{"roof", label},
                              {"intensity", ridge},
                              {"flops_per_s", roof.flops_per_s},
                              {"text", si(ridge, "FLOP/B")}});
  }
  // What the slowest memory and the highest roof leave attainable.
  data["attainable"] = Json::array();
  if (!roofs.memory.empty() && !roofs.compute.empty()) {
    const double rate = roofs.memory.back().highest();
    for (const double x : {f.x.low, std::max(f.x.low, f.y.low / rate), top / rate, f.x.high}) {
      data["attainable"].push_back(
          {{"x", x}, {"y", std::clamp(rate * x, f.y.low, top)}, {"floor", f.y.low}});
    }
  }
}

void add_labels(Json& data, const Roofs& roofs, const Frame& f, const std::vector<Dot>& dots) {
  std::vector<Pixel> pixels;
  for (const Dot& dot : dots) {
    pixels.push_back(f.pixel(dot.predicted));
    if (dot.measured) pixels.push_back(f.pixel(*dot.measured));
  }
  const double top = roofs.compute.empty() ? f.y.high : roofs.compute.front().flops_per_s;
  data["slope labels"] = data["level labels"] = Json::array();
  for (const RoofLabel& label : slope_labels(roofs.memory, f.x, f.y, top, pixels)) {
    data["slope labels"].push_back(
        {{"text", label.text}, {"x", f.x.value(label.at.x)}, {"y", f.y.value(label.at.y)}});
  }
  for (const RoofLabel& label : level_labels(roofs.compute, f.x, f.y)) {
    data["level labels"].push_back(
        {{"text", label.text}, {"y", f.y.value(label.at.y)}, {"level", label.level}});
  }
}

Json layer(std::string_view name, std::string_view data, Json mark, Json encoding) {
  return {{"name", name},
          {"data", {{"name", data}}},
          {"mark", std::move(mark)},
          {"encoding", std::move(encoding)}};
}

void add_roof_layers(Json& layers, const Frame& f) {
  const double slope_angle =
      -std::atan2(f.y.pixels_per_decade(), f.x.pixels_per_decade()) * 180 / std::numbers::pi;
  layers.push_back(
      layer("attainable", "attainable", mark("area", "attainable", {{"clip", true}}),
            {{"x", f.x.channel("x")}, {"y", f.y.channel("y")}, {"y2", {{"field", "floor"}}}}));
  for (const char* kind : {"sustained", "memory", "vector", "tensor"}) {
    const std::string name = std::string(kind) + " roofs";
    layers.push_back(layer(std::string(kind) + "-roofs", name,
                           mark("rule", std::string(kind) + "-roof", {{"clip", true}}),
                           {{"x", f.x.channel("x")},
                            {"y", f.y.channel("y")},
                            {"x2", {{"field", "x2"}}},
                            {"y2", {{"field", "y2"}}},
                            {"tooltip", tooltip({{"roof", "Roof"}, {"text", "Peak"}})}}));
  }
  layers.push_back(
      layer("ridges", "ridges", mark("point", "ridge", {{"filled", true}, {"size", 26}}),
            {{"x", f.x.channel("intensity")},
             {"y", f.y.channel("flops_per_s")},
             {"tooltip", tooltip({{"roof", "Ridge of DRAM with"}, {"text", "Intensity"}})}}));
  for (const char* style : {"roof-label-halo", "roof-label"}) {
    layers.push_back(layer(
        std::string("slope-") + style, "slope labels",
        mark("text", style, {{"align", "left"}, {"baseline", "middle"}, {"angle", slope_angle}}),
        {{"x", f.x.channel("x")}, {"y", f.y.channel("y")}, {"text", {{"field", "text"}}}}));
  }
  layers.push_back(layer("leaders", "level labels", mark("rule", "leader"),
                         {{"x", {{"value", kWidth + 2}}},
                          {"x2", {{"value", kWidth + 14}}},
                          {"y", f.y.channel("level")},
                          {"y2", {{"field", "y"}}}}));
  layers.push_back(layer(
      "level-labels", "level labels",
      mark("text", "roof-label", {{"align", "left"}, {"baseline", "middle"}}),
      {{"x", {{"value", kWidth + 18}}}, {"y", f.y.channel("y")}, {"text", {{"field", "text"}}}}));
}

void add_point_layers(Json& layers, const Frame& f, const Json& colours, std::size_t points) {
  const int size = points > 24 ? 46 : 78;
  layers.push_back(layer("arrows", "arrows", mark("rule", "arrow"),
                         {{"x", f.x.channel("x")},
                          {"y", f.y.channel("y")},
                          {"x2", {{"field", "x2"}}},
                          {"y2", {{"field", "y2"}}},
                          {"color", colours}}));
  Json heads =
      layer("arrow-heads", "arrows",
            mark("point", "arrow", {{"shape", "triangle"}, {"filled", true}, {"size", 44}}),
            {{"x", f.x.channel("head_x")},
             {"y", f.y.channel("head_y")},
             {"angle", {{"field", "angle"}, {"type", "quantitative"}, {"scale", nullptr}}},
             {"color", colours}});
  heads["transform"] = {{{"filter", "isValid(datum.angle)"}}};
  layers.push_back(std::move(heads));
  for (const char* kind : {"predicted", "measured"}) {
    layers.push_back(layer(
        kind, kind,
        mark("point", kind, {{"filled", std::string_view(kind) == "measured"}, {"size", size}}),
        {{"x", f.x.channel("intensity")},
         {"y", f.y.channel("flops_per_s")},
         {"color", colours},
         {"tooltip", tooltip({{"label", "Kernel"},
                              {"predicted", "Predicted"},
                              {"measured", "Measured"},
                              {"error", "Error of time"}})}}));
  }
}

}  // namespace

RooflinePoint roofline_point(const validation::Row& row) {
  RooflinePoint point;
  point.label = row.kernel + " " + row.problem_text;
  point.intensity = row.work_dram_bytes > 0 ? row.work_flops / row.work_dram_bytes : 0;
  point.predicted_flops_per_s = row.work_flops / row.time_s.predicted;
  // The same FLOPs over the measured time: counters do not see tensor cores.
  point.measured_flops_per_s = row.work_flops / row.time_s.measured;
  if (row.dram_bytes && row.dram_bytes->measured > 0) {
    point.measured_intensity = row.work_flops / row.dram_bytes->measured;
  }
  return point;
}

std::string roofline_chart(const Gpu& gpu, const std::vector<RooflinePoint>& points) {
  const std::vector<Dot> dots = drawable_dots(points);
  const Roofs roofs{memory_roofs(gpu), compute_roofs(gpu)};
  const Frame f = frame(roofs.memory, roofs.compute, dots);

  Json data;
  add_roofs(data, roofs, f);
  add_labels(data, roofs, f, dots);
  data["arrows"] = arrow_rows(dots, f);
  data["predicted"] = point_rows(dots, false);
  data["measured"] = point_rows(dots, true);

  std::string subtitle = "Roofs at datasheet clocks";
  if (!data["sustained roofs"].empty()) subtitle += ", dashed: sustained (calibrated)";
  if (!dots.empty()) subtitle += " · ○ predicted";
  if (!data["measured"].empty()) subtitle += " · ● measured";

  std::vector<std::string> kernels;
  for (const Dot& dot : dots) add_once(kernels, first_word(dot.point->label));

  Json layers = Json::array();
  add_roof_layers(layers, f);
  if (!dots.empty()) add_point_layers(layers, f, colour("kernel", kernels, "", 6), dots.size());

  Json spec = chart(gpu.title.empty() ? gpu.name : gpu.title, subtitle, std::move(data));
  spec["width"] = kWidth;
  spec["height"] = kHeight;
  spec["layer"] = std::move(layers);
  return json_text(spec);
}

}  // namespace roofcast::reports
