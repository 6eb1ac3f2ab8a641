#include "reports/bar_names.hpp"

#include <algorithm>

#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/point_labels.hpp"

namespace roofcast::reports {
namespace {

constexpr double kLine = 15;
constexpr double kAir = 3;  // between a name and its bar

/// Filled up with empty lines above, so that the last one of every name stands over its bar.
std::string joined(const std::vector<std::string>& lines, std::size_t most) {
  std::string text(most - lines.size(), '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i > 0 ? "\n" : "") + lines[i];
  return text;
}

}  // namespace

BarNames::BarNames(const std::vector<std::string>& names, double beside, double below, double bar,
                   double gap)
    : bar_(bar), row_(bar + gap) {
  double longest = 0;
  for (const std::string& name : names) {
    add_once(names_, name);
    longest = std::max(longest, text_width(name));
  }
  rows_ = names_.size();
  above_ = longest > beside / 3;
  frame_ = above_ ? below : beside;
  if (!above_) return;
  for (const std::string& name : names_) {
    lines_ = std::max(lines_, lines_within(name, frame_).size());
  }
  const double named = kLine * static_cast<double>(lines_) + kAir;
  row_ += named;
  down_ = named / 2;
}

Json BarNames::y(std::string_view field) const {
  const Json axis = {{"ticks", false}, {"domain", false}, {"labelLimit", 0}};
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", names_}}},
          {"axis", above_ ? Json() : axis}};
}

Json BarNames::moved(Json mark) const {
  if (above_) mark["yOffset"] = down_;
  return mark;
}

void BarNames::add_layer(Json& layers, Json& datasets) const {
  if (!above_) return;
  Json rows = Json::array();
  for (const std::string& name : names_) {
    rows.push_back({{"name", name}, {"text", joined(lines_within(name, frame_), lines_)}});
  }
  datasets["bar names"] = std::move(rows);
  layers.push_back(
      {{"name", "bar-names"},
       {"data", {{"name", "bar names"}}},
       {"mark", mark("text", "bar-text",
                     {{"align", "left"},
                      {"baseline", "top"},
                      {"lineBreak", "\n"},
                      {"lineHeight", kLine},
                      {"yOffset", -(bar_ / 2 + down_)}})},
       {"encoding", {{"x", {{"value", 0}}}, {"y", y("name")}, {"text", {{"field", "text"}}}}}});
}

}  // namespace roofcast::reports
