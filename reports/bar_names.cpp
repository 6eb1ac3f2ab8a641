#include "reports/bar_names.hpp"

#include <algorithm>

#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/point_labels.hpp"

namespace roofcast::reports {
namespace {

constexpr double kLine = 15;
constexpr double kAir = 3;  // px between a name and its bar

/// The lines after empty ones, `most` in all: the last line of every name stands just over its bar.
std::string joined(const std::vector<std::string>& lines, std::size_t most) {
  std::string text(most - lines.size(), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return text;
}

std::vector<std::string> distinct(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) add_once(result, name);
  return result;
}

double longest(const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, text_width(name));
  return width;
}

std::size_t most_lines(const std::vector<std::string>& names, double frame) {
  std::size_t lines = 1;
  for (const std::string& name : names) lines = std::max(lines, lines_within(name, frame).size());
  return lines;
}

double height_of(std::size_t lines) {
  return lines == 0 ? 0 : kLine * static_cast<double>(lines) + kAir;
}

}  // namespace

BarNames::BarNames(const std::vector<std::string>& names, double beside, double below, double bar,
                   double gap)
    : names_(distinct(names)),
      above_(longest(names_) > beside / 3),
      frame_(above_ ? below : beside),
      lines_(above_ ? most_lines(names_, frame_) : 0),
      bar_(bar),
      row_(bar + gap + height_of(lines_)) {}

double BarNames::down() const {
  return height_of(lines_) / 2;
}

Json BarNames::y(std::string_view field) const {
  const Json axis = {{"ticks", false}, {"domain", false}, {"labelLimit", 0}};
  return nominal_channel(field, names_, above_ ? Json() : axis);
}

Json BarNames::moved(Json mark) const {
  if (above_) mark["yOffset"] = down();
  return mark;
}

void BarNames::add_layer(Json& layers, Json& datasets) const {
  if (!above_) return;
  Json rows = Json::array();
  for (const std::string& name : names_) {
    rows.push_back({{"name", name}, {"text", joined(lines_within(name, frame_), lines_)}});
  }
  datasets["bar names"] = std::move(rows);
  layers.push_back(layer("bar-names", "bar names",
                         mark("text", "bar-text",
                              {{"align", "left"},
                               {"baseline", "top"},
                               {"lineBreak", "\n"},
                               {"lineHeight", kLine},
                               {"yOffset", -(bar_ / 2 + down())}}),
                         {{"x", {{"value", 0}}}, {"y", y("name")}, {"text", {{"field", "text"}}}}));
}

}  // namespace roofcast::reports
