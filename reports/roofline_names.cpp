#include "reports/roofline_names.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reports/point_labels.hpp"
#include "reports/roofline_roofs.hpp"

namespace roofcast::reports {
namespace {

Box around(const Pixel& p) {
  return {p.x - kDotRadius, p.y - kDotRadius, p.x + kDotRadius, p.y + kDotRadius};
}

std::vector<Box> boxes_of(const std::vector<Dot>& dots, const Frame& f) {
  std::vector<Box> boxes;
  for (const Pixel& pixel : pixels_of(dots, f)) boxes.push_back(around(pixel));
  return boxes;
}

/// Boxes that cover the roofs and the lines that join levels: a slope is a chain of small ones.
std::vector<Box> lines_of(const Roofs& roofs, const std::vector<Dot>& dots, const Frame& f) {
  constexpr double kStep = 6;
  std::vector<Box> boxes;
  for (const ComputeRoof& roof : roofs.compute) {
    const double y = f.y.position(roof.flops_per_s);
    boxes.push_back({0, y - 1, f.x.pixels, y + 1});
  }
  for (const MemoryRoof& roof : roofs.memory) {
    for (double x = 0; x < f.x.pixels; x += kStep) {
      const double y = f.y.position(roof.highest() * f.x.value(x));
      if (y > 0 && y < f.y.pixels) boxes.push_back({x, y - 2, x + kStep, y + 2});
    }
  }
  for (const Dot& dot : dots) {
    for (const LevelIntensity& level : dot.levels) {
      const double from = f.x.position(level.intensity), to = f.x.position(dot.predicted.intensity);
      const double y = f.y.position(dot.predicted.flops_per_s);
      boxes.push_back({std::min(from, to), y - 1, std::max(from, to), y + 1});
    }
  }
  return boxes;
}

/// What names of dots must not cover (dots, names of roofs) and should avoid (lines). A name along
/// a slope is a chain of small boxes.
Obstacles around_names(const Json& data, const std::string& prefix, const Frame& f,
                       const Roofs& roofs, const std::vector<Dot>& dots) {
  Obstacles result{boxes_of(dots, f), lines_of(roofs, dots, f), f.x.pixels, f.y.pixels};
  const auto start = [&](const Json& row) {
    return f.pixel({row["x"].get<double>(), row["y"].get<double>()});
  };
  constexpr double kHalfLine = 7, kStep = 12;
  for (const Json& row : data.value(prefix + "level labels", Json::array())) {
    const Pixel at = start(row);
    result.taken.push_back({at.x, at.y - kHalfLine,
                            at.x + text_width(row["text"].get<std::string>()), at.y + kHalfLine});
  }
  const double turn = -slope_angle(f.x, f.y) * std::numbers::pi / 180;
  for (const Json& row : data.value(prefix + "slope labels", Json::array())) {
    const Pixel at = start(row);
    const double length = text_width(row["text"].get<std::string>());
    for (double along = 0; along < length; along += kStep) {
      const double x = at.x + along * std::cos(turn), y = at.y + along * std::sin(turn);
      result.taken.push_back({x - kHalfLine, y - kHalfLine, x + kHalfLine, y + kHalfLine});
    }
  }
  return result;
}

}  // namespace

std::string kernel_of(const Dot& dot) {
  return first_word(dot.point->label);
}

std::vector<std::string> add_names(Json& data, const std::string& prefix, const Frame& f,
                                   const Roofs& roofs, const std::vector<Dot>& dots,
                                   const DotNames& names) {
  std::vector<Pixel> anchors;
  std::vector<std::string> texts = names.names;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    anchors.push_back(f.pixel(dots[i].predicted));
    if (dots[i].above_roof && !texts[i].empty()) texts[i] += ": faster than its limit";
  }
  const auto labels = point_labels(texts, anchors, around_names(data, prefix, f, roofs, dots));
  Json rows = Json::array();
  std::vector<std::string> unnamed;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (!labels[i]) {
      add_once(unnamed, kernel_of(dots[i]));
      continue;
    }
    const PointLabel& label = *labels[i];
    Json row = {{"kernel", kernel_of(dots[i])},
                {"text", label.text},
                {"x", f.x.value(label.at.x)},
                {"y", f.y.value(label.at.y)},
                {"fault", dots[i].above_roof}};
    if (label.tip) {
      row["from_x"] = f.x.value(label.anchor.x);
      row["from_y"] = f.y.value(label.anchor.y);
      row["to_x"] = f.x.value(label.tip->x);
      row["to_y"] = f.y.value(label.tip->y);
    }
    rows.push_back(std::move(row));
  }
  data[prefix + "names"] = std::move(rows);
  return unnamed;
}

void add_name_layers(Json& layers, const std::string& prefix, const Frame& f) {
  Json rule = layer("name-leaders", prefix + "names", mark("rule", "leader"),
                    {{"x", f.x.channel("from_x")},
                     {"y", f.y.channel("from_y")},
                     {"x2", {{"field", "to_x"}}},
                     {"y2", {{"field", "to_y"}}}});
  rule["transform"] = {{{"filter", "isValid(datum.from_x)"}}};
  layers.push_back(std::move(rule));
  for (const char* style : {"roof-label-halo", "point-name", "fault"}) {
    Json names = layer(std::string("names-") + style, prefix + "names",
                       mark("text", style, {{"align", "left"}, {"baseline", "middle"}}),
                       f.across({{"text", {{"field", "text"}}}}));
    if (std::string_view(style) == "fault") {
      names["transform"] = {{{"filter", "datum.fault"}}};
    }
    layers.push_back(std::move(names));
  }
}

}  // namespace roofcast::reports
