#include <algorithm>
#include <cmath>

#include "reports/forecast_charts.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kBoxes = 36;  ///< height of a launch's blocks (px); its name stands above them
constexpr double kLine = 15;
constexpr double kGap = 7;
/// With more waves than this, the full ones are one box that gives their number.
constexpr double kMostBoxes = 40;

/// Boxes of one launch: time along x, the slots for blocks on all SMs along y.
class Row {
 public:
  /// `filled` is the share of the row's height that all slots take; the name has the rest.
  Row(Json& rows, std::string name, double top, double filled)
      : rows_(rows), name_(std::move(name)), top_(top), filled_(filled) {}
  void add(const char* what, double from, double to, double share, const std::string& text) {
    rows_.push_back({{"name", name_},
                     {"what", what},
                     {"from", from},
                     {"to", to},
                     {"y", top_ + 1 - filled_ * share},
                     {"y2", top_ + 1},
                     {"text", text}});
  }

 private:
  Json& rows_;
  std::string name_;
  double top_;
  double filled_;
};

std::string waves_text(const Waves& waves) {
  std::string text = figure_text(waves.count, 4) + " waves";
  if (waves.tail_utilization < 1) {
    text += ", the last fills " + percent(waves.tail_utilization) + " of the places";
  }
  return text;
}

void add_boxes(Json& rows, const NamedForecast& forecast, double top, double filled) {
  const Waves& waves = *forecast.prediction->waves;
  const Forecast& time = *forecast.prediction->time;
  const Waterfall& parts = time.waterfall;
  const double begin = parts[Part::launch] + parts[Part::first_access];
  const double end = time.expected_s;
  const double whole = std::ceil(waves.count);
  if (!(whole > 0) || !(end > begin)) return;
  const double each = (end - begin) / whole;
  const auto full = static_cast<double>(waves.full);
  Row row(rows, forecast.name, top, filled);
  if (begin > 0) row.add("launch", 0, begin, 1, "launch and first access: " + si(begin, "s"));
  if (whole > kMostBoxes) {
    row.add("full wave", begin, begin + full * each, 1, figure_text(full, 6) + " full waves");
  } else {
    for (double wave = 0; wave < full; ++wave) {
      row.add("full wave", begin + wave * each, begin + (wave + 1) * each, 1,
              "wave " + figure_text(wave + 1, 3) + ": every place has a block");
    }
  }
  if (whole > full) {
    row.add("last wave", begin + full * each, end, waves.tail_utilization,
            percent(waves.tail_utilization) + " of the places have a block");
  }
}

bool has_timeline(const NamedForecast& forecast) {
  return forecast.prediction->time && forecast.prediction->waves &&
         forecast.prediction->launches == 1;
}

}  // namespace

std::string timeline_chart(const std::vector<NamedForecast>& forecasts, double width) {
  const double frame = frame_without_axis(width);
  std::vector<std::vector<std::string>> titles;
  std::size_t lines = 1;
  for (const NamedForecast& forecast : forecasts) {
    if (!has_timeline(forecast)) continue;
    titles.push_back(
        lines_within(forecast.name + ": " + waves_text(*forecast.prediction->waves), frame));
    lines = std::max(lines, titles.back().size());
  }
  const double height = kBoxes + kGap + kLine * static_cast<double>(lines);
  Json boxes = Json::array(), names = Json::array();
  double most = 0, rows = 0;
  for (const NamedForecast& forecast : forecasts) {
    if (!has_timeline(forecast)) continue;
    add_boxes(boxes, forecast, rows, kBoxes / height);
    const auto& title = titles[names.size()];
    std::string text;
    for (const std::string& line : title) text += (text.empty() ? "" : "\n") + line;
    const double above = kBoxes + kGap / 2 + kLine * static_cast<double>(title.size());
    names.push_back({{"y", rows + 1 - above / height}, {"text", text}});
    most = std::max(most, forecast.prediction->time->expected_s);
    rows += 1;
  }
  const Json y = {{"field", "y"},
                  {"type", "quantitative"},
                  {"title", nullptr},
                  {"axis", nullptr},
                  {"scale", {{"domain", {0, std::max(rows, 1.0)}}, {"reverse", true}}}};
  const Json x = linear_channel("from", "Time", {0, most > 0 ? 1.02 * most : 1},
                                {{"labelExpr", si_label("s")}, {"tickCount", frame < 400 ? 3 : 6}});
  Json colours = colour("what", {"launch", "full wave", "last wave"}, "", 3);
  colours["legend"]["symbolType"] = "square";
  Json layers = Json::array();
  layers.push_back(
      layer("timeline", "timeline", mark("rect", "wave"),
            {{"x", x},
             {"x2", {{"field", "to"}}},
             {"y", y},
             {"y2", {{"field", "y2"}}},
             {"color", colours},
             {"tooltip", tooltip({{"name", "Setting"}, {"what", "Blocks"}, {"text", "Filled"}})}}));
  layers.push_back(layer(
      "timeline-names", "timeline names",
      mark("text", "bar-text",
           {{"align", "left"}, {"baseline", "top"}, {"lineBreak", "\n"}, {"lineHeight", kLine}}),
      {{"x", {{"value", 0}}}, {"y", y}, {"text", {{"field", "text"}}}}));
  return layered(
      chart("Blocks over the SMs",
            "Height: the places for blocks on all SMs; drawn as if every block took the same time",
            {{"timeline", std::move(boxes)}, {"timeline names", std::move(names)}}),
      frame, height * std::max(rows, 1.0), std::move(layers), width);
}

}  // namespace roofcast::reports
