#include "reports/roofline_roofs.hpp"

#include <algorithm>
#include <cmath>

#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

Json line_row(std::string roof, double value, const char* unit, Place from, Place to) {
  return {{"roof", std::move(roof)}, {"value", value},        {"text", si(value, unit)},
          {"x", from.intensity},     {"y", from.flops_per_s}, {"x2", to.intensity},
          {"y2", to.flops_per_s}};
}

double top_of(const Roofs& roofs, const Frame& f) {
  return roofs.compute.empty() ? f.y.high : roofs.compute.front().flops_per_s;
}

void add_slopes(Json& memory, Json& sustained, const Roofs& roofs, const Frame& f) {
  const double top = top_of(roofs, f);
  const auto slope = [&](const std::string& roof, double rate) {
    const double begin = std::max(f.x.low, f.y.low / rate);
    const double end = std::min(f.x.high, top / rate);
    return line_row(roof, rate, "B/s", {begin, rate * begin}, {end, rate * end});
  };
  for (const MemoryRoof& roof : roofs.memory) {
    if (roof.sheet_bytes_per_s) memory.push_back(slope(roof.level, *roof.sheet_bytes_per_s));
    if (roof.sustained_bytes_per_s) {
      sustained.push_back(slope(roof.level + " sustained", *roof.sustained_bytes_per_s));
    }
  }
}

/// The area below the slowest memory's slope and the highest compute roof.
Json attainable_rows(const Roofs& roofs, const Frame& f) {
  Json rows = Json::array();
  if (roofs.memory.empty() || roofs.compute.empty()) return rows;
  const double rate = roofs.memory.back().highest();
  const double top = top_of(roofs, f);
  for (const double x : {f.x.low, std::max(f.x.low, f.y.low / rate), top / rate, f.x.high}) {
    rows.push_back({{"x", x}, {"y", std::clamp(rate * x, f.y.low, top)}, {"floor", f.y.low}});
  }
  return rows;
}

std::string style_of(const ComputeRoof& roof, bool asked) {
  if (!asked) return "other roofs";
  return roof.pipe == "vector" ? "vector roofs" : "tensor roofs";
}

void add_levels(Json& data, const std::string& prefix, const Roofs& roofs, const Frame& f,
                const std::vector<bool>& asked) {
  const double fastest = roofs.memory.empty() ? 0 : roofs.memory.front().highest();
  for (std::size_t i = 0; i < roofs.compute.size(); ++i) {
    const ComputeRoof& roof = roofs.compute[i];
    const double begin = fastest > 0 ? std::max(f.x.low, roof.flops_per_s / fastest) : f.x.low;
    const std::string label = roof.pipe + " " + std::string(name(roof.dtype));
    data[prefix + style_of(roof, asked[i])].push_back(line_row(label, roof.flops_per_s, "FLOP/s",
                                                               {begin, roof.flops_per_s},
                                                               {f.x.high, roof.flops_per_s}));
    if (!asked[i] || roofs.memory.empty() || !roofs.memory.back().sheet_bytes_per_s) continue;
    const double ridge = roof.flops_per_s / *roofs.memory.back().sheet_bytes_per_s;
    data[prefix + "ridges"].push_back({{"roof", label},
                                       {"intensity", ridge},
                                       {"flops_per_s", roof.flops_per_s},
                                       {"text", si(ridge, "FLOP/B")}});
  }
}

void add_labels(Json& data, const std::string& prefix, const Roofs& roofs, const Frame& f,
                const std::vector<Dot>& dots, const std::vector<bool>& asked) {
  std::vector<MemoryRoof> named = roofs.memory;
  if (is_narrow(f.x.pixels)) {
    for (MemoryRoof& roof : named) {
      if (roof.sheet_bytes_per_s) roof.sustained_bytes_per_s.reset();
    }
  }
  const std::vector<Pixel> points = pixels_of(dots, f);
  const auto levels = level_labels(roofs.compute, asked, f.x, f.y, points);
  data[prefix + "level labels"] = level_label_rows(levels, f.x, f.y);
  const auto slopes = slope_labels(named, f.x, f.y, top_of(roofs, f), points, levels);
  data[prefix + "slope labels"] = slope_label_rows(slopes, f.x, f.y);
}

Json level_text(const std::string& prefix, const Frame& f, const char* style, bool asked) {
  Json text = layer(std::string(asked ? "level-" : "other-level-") + style, prefix + "level labels",
                    mark("text", style, {{"align", "left"}, {"baseline", "middle"}}),
                    f.across({{"text", {{"field", "text"}}}}));
  text["transform"] = {{{"filter", asked ? "datum.asked" : "!datum.asked"}}};
  return text;
}

}  // namespace

void add_roofs(Json& data, const std::string& prefix, const Roofs& roofs, const Frame& f,
               const std::vector<Dot>& dots) {
  for (const char* set : {"memory roofs", "sustained roofs", "tensor roofs", "vector roofs",
                          "other roofs", "ridges"}) {
    data[prefix + set] = Json::array();
  }
  std::vector<bool> asked;
  for (const ComputeRoof& roof : roofs.compute) asked.push_back(is_asked(roof, dots));
  add_slopes(data[prefix + "memory roofs"], data[prefix + "sustained roofs"], roofs, f);
  add_levels(data, prefix, roofs, f, asked);
  data[prefix + "attainable"] = attainable_rows(roofs, f);
  add_labels(data, prefix, roofs, f, dots, asked);
}

void add_label_layers(Json& layers, const std::string& prefix, const Frame& f) {
  const double angle = slope_angle(f.x, f.y);
  for (const char* style : {"roof-label-halo", "roof-label"}) {
    layers.push_back(
        layer(std::string("slope-") + style, prefix + "slope labels",
              mark("text", style, {{"align", "left"}, {"baseline", "middle"}, {"angle", angle}}),
              f.across({{"text", {{"field", "text"}}}})));
  }
  // Inside a narrow frame lines pass behind the labels: a halo keeps them legible.
  const bool narrow = is_narrow(f.x.pixels);
  if (narrow) layers.push_back(level_text(prefix, f, "roof-label-halo", true));
  layers.push_back(level_text(prefix, f, "roof-label", true));
  if (narrow) return;
  layers.push_back(level_text(prefix, f, "other-roof-label", false));
  layers.push_back(layer("leaders", prefix + "level labels", mark("rule", "leader"),
                         {{"x", {{"value", f.x.pixels + 2}}},
                          {"x2", {{"value", f.x.pixels + 14}}},
                          {"y", f.y.channel("level")},
                          {"y2", {{"field", "y"}}}}));
}

void add_roof_layers(Json& layers, const std::string& prefix, const Frame& f) {
  layers.push_back(layer("attainable", prefix + "attainable",
                         mark("area", "attainable", {{"clip", true}}),
                         f.across({{"y2", {{"field", "floor"}}}})));
  for (const char* kind : {"other", "sustained", "memory", "vector", "tensor"}) {
    layers.push_back(layer(std::string(kind) + "-roofs", prefix + kind + " roofs",
                           mark("rule", std::string(kind) + "-roof", {{"clip", true}}),
                           f.across({{"x2", {{"field", "x2"}}},
                                     {"y2", {{"field", "y2"}}},
                                     {"tooltip", tooltip({{"roof", "Roof"}, {"text", "Peak"}})}})));
  }
  layers.push_back(
      layer("ridges", prefix + "ridges", mark("point", "ridge", {{"filled", true}, {"size", 26}}),
            {{"x", f.x.channel("intensity")},
             {"y", f.y.channel("flops_per_s")},
             {"tooltip", tooltip({{"roof", "Ridge of DRAM with"}, {"text", "Intensity"}})}}));
  add_label_layers(layers, prefix, f);
}

}  // namespace roofcast::reports
