#include "reports/roofline_layout.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

/// Factor by which a rate may exceed its limit from rounding.
constexpr double kRounding = 1.0005;

bool is_positive(double value) {
  return std::isfinite(value) && value > 0;
}

double top_of(const Roofs& roofs) {
  return roofs.compute.empty() ? 1e12 : roofs.compute.front().flops_per_s;
}

double slowest_memory(const Roofs& roofs) {
  return roofs.memory.empty() ? 1e12 : roofs.memory.back().lowest();
}

/// The intensity, at most `most`, which also replaces infinity.
double capped(double intensity, double most) {
  return intensity > most ? most : intensity;
}

bool is_above_roof(const RooflinePoint& point) {
  if (!point.limit_flops_per_s) return false;
  const double most = kRounding * *point.limit_flops_per_s;
  return point.predicted_flops_per_s > most || point.measured_flops_per_s.value_or(0) > most;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

using Words = std::vector<std::vector<std::string>>;

/// The label without its first word: "p100 gemm.tiled m=4096 …" → "gemm.tiled m=4096 …".
std::string without_device(const Dot& dot) {
  const std::string& text = dot.point->brief.empty() ? dot.point->label : dot.point->brief;
  return text.substr(std::min(text.find(' ') + 1, text.size()));
}

std::set<std::string> common_words(const Words& labels) {
  std::set<std::string> common(labels.front().begin() + 1, labels.front().end());
  for (const auto& words : labels) {
    std::erase_if(common, [&](const std::string& word) {
      return std::find(words.begin(), words.end(), word) == words.end();
    });
  }
  return common;
}

}  // namespace

Json Frame::across(const Json& more) const {
  Json channels = {{"x", x.channel("x")}, {"y", y.channel("y")}};
  channels.update(more);
  return channels;
}

std::vector<Pixel> pixels_of(const std::vector<Dot>& dots, const Frame& frame) {
  std::vector<Pixel> pixels;
  for (const Dot& dot : dots) {
    pixels.push_back(frame.pixel(dot.predicted));
    if (dot.measured) pixels.push_back(frame.pixel(*dot.measured));
    for (const LevelIntensity& level : dot.levels) {
      pixels.push_back(frame.pixel({level.intensity, dot.predicted.flops_per_s}));
    }
  }
  return pixels;
}

std::optional<Dot> drawable_dot(const RooflinePoint& point, const Roofs& roofs) {
  const double most = kMostRidges * top_of(roofs) / slowest_memory(roofs);
  if (!is_positive(point.predicted_flops_per_s) || !(point.intensity > 0)) return std::nullopt;
  Dot dot{&point, {capped(point.intensity, most), point.predicted_flops_per_s}};
  dot.beyond = point.intensity > most;
  dot.above_roof = is_above_roof(point);
  dot.has_interval = is_positive(point.low_flops_per_s.value_or(0)) &&
                     is_positive(point.high_flops_per_s.value_or(0));
  if (point.measured_flops_per_s) {
    const double intensity = point.measured_intensity.value_or(point.intensity);
    if (intensity > 0 && is_positive(*point.measured_flops_per_s)) {
      dot.measured = Place{capped(intensity, most), *point.measured_flops_per_s};
    }
  }
  for (const LevelIntensity& level : point.levels) {
    if (is_positive(level.intensity) && level.intensity <= most) dot.levels.push_back(level);
  }
  return dot;
}

std::vector<Dot> drawable_dots(const std::vector<RooflinePoint>& points, const Roofs& roofs) {
  std::vector<Dot> dots;
  for (const RooflinePoint& point : points) {
    if (auto dot = drawable_dot(point, roofs)) dots.push_back(std::move(*dot));
  }
  return dots;
}

Frame frame_around(const Roofs& roofs, const std::vector<Dot>& dots, double width, double height) {
  const double top = top_of(roofs);
  const double bottom = roofs.compute.empty() ? 1e12 : roofs.compute.back().flops_per_s;
  const double memory = slowest_memory(roofs);
  double x_low = std::min(bottom / 8, top / 100) / memory;
  double x_high = top / memory * 6;
  double y_low = std::min(bottom / 8, top / 300);
  double y_high = top * 1.7;
  const auto hold = [&](const Place& place) {
    x_low = std::min(x_low, place.intensity / 2.5);
    x_high = std::max(x_high, place.intensity * 2.5);
    y_low = std::min(y_low, place.flops_per_s / 2.5);
    y_high = std::max(y_high, place.flops_per_s * 1.7);
  };
  for (const Dot& dot : dots) {
    hold(dot.predicted);
    if (dot.has_interval) hold({dot.predicted.intensity, *dot.point->low_flops_per_s});
    if (dot.measured) hold(*dot.measured);
    for (const LevelIntensity& level : dot.levels) {
      hold({level.intensity, dot.predicted.flops_per_s});
    }
  }
  const char* title = width < kNarrow
                          ? "FLOP per byte at the level"
                          : "Arithmetic intensity (FLOP per byte that crosses at the level)";
  return {{x_low, x_high, width, title, ""}, {y_low, y_high, height, "Performance", "FLOP/s"}};
}

bool is_asked(const ComputeRoof& roof, const std::vector<Dot>& dots) {
  const auto is_it = [&roof](const RoofName& name) {
    return name.dtype == roof.dtype && (name.pipe.empty() || name.pipe == roof.pipe);
  };
  bool known = false;
  for (const Dot& dot : dots) {
    const auto& needed = dot.point->roofs;
    known = known || !needed.empty();
    if (std::any_of(needed.begin(), needed.end(), is_it)) return true;
  }
  return !known;
}

DotNames names_of(const std::vector<Dot>& dots) {
  DotNames result;
  if (dots.empty()) return result;
  Words labels;
  std::map<std::string, int> uses;
  for (const Dot& dot : dots) ++uses[dot.point->brief];
  for (const Dot& dot : dots) {
    // Equal brief labels differ in their settings alone: then the full labels are used.
    const bool is_told = !dot.point->brief.empty() && uses[dot.point->brief] == 1;
    labels.push_back(words_of(is_told ? dot.point->brief : dot.point->label));
  }
  std::erase_if(labels, [](const auto& words) { return words.empty(); });
  if (labels.size() != dots.size()) return {std::vector<std::string>(dots.size()), ""};
  const std::set<std::string> common = common_words(labels);
  for (std::size_t i = 1; i < labels.front().size(); ++i) {
    const std::string& word = labels.front()[i];
    if (common.contains(word)) result.common += (result.common.empty() ? "" : " ") + word;
  }
  for (std::size_t i = 0; i < dots.size(); ++i) {
    std::string name = labels[i].front() + (dots[i].point->is_limit ? " limit" : "");
    for (std::size_t j = 1; j < labels[i].size(); ++j) {
      if (!common.contains(labels[i][j])) name += " " + labels[i][j];
    }
    result.names.push_back(std::move(name));
  }
  return result;
}

DeviceDotNames names_by_device(const std::vector<Dot>& dots, double width) {
  std::vector<std::string> kernels;
  std::set<std::string> variants;
  for (const Dot& dot : dots) add_once(kernels, without_device(dot));
  for (const std::string& kernel : kernels) variants.insert(first_word(kernel));
  const bool numbered = is_narrow(width) && kernels.size() > 1;
  if (!numbered && variants.size() < kernels.size()) return {names_of(dots)};
  DeviceDotNames result;
  for (const Dot& dot : dots) {
    const auto kernel = std::find(kernels.begin(), kernels.end(), without_device(dot));
    std::string name = first_word(dot.point->label);
    if (numbered) {
      name = std::to_string(kernel - kernels.begin() + 1);
    } else if (kernels.size() > 1) {
      name += " " + first_word(*kernel);
    }
    if (dot.point->is_limit) name += " limit";
    result.names.names.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    result.kernels.push_back((numbered ? std::to_string(i + 1) + ": " : "") + kernels[i]);
  }
  return result;
}

std::string stacked(Json chart, Json frames, Json bars, int columns, Json legends) {
  if (!bars.is_null()) frames.push_back(std::move(bars));
  if (frames.size() == 1) {
    chart.update(frames[0]);
    return json_text(chart);
  }
  chart["concat"] = std::move(frames);
  chart["columns"] = columns;
  chart["spacing"] = 36;
  chart["resolve"] = {{"scale",
                       {{"x", "independent"},
                        {"y", "independent"},
                        {"color", "independent"},
                        {"strokeDash", "independent"}}},
                      {"legend", std::move(legends)}};
  return json_text(chart);
}

Json wrapped_lines(const std::string& text, double width) {
  if (is_narrow(width)) return {text};  // make_narrow wraps the whole heading
  // The names of compute roofs right of the frame widen the picture beyond `width`.
  return lines_within(text, 1.5 * width);
}

}  // namespace roofcast::reports
