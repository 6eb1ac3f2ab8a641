#include "reports/forecast_charts.hpp"

#include <algorithm>

#include "model/traffic_ladder.hpp"
#include "reports/bar_names.hpp"
#include "reports/narrow.hpp"
#include "reports/plot.hpp"
#include "reports/point_labels.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kBar = 18;
constexpr double kGap = 16;  ///< px between the bars of two forecasts
constexpr double kRung = 12;
constexpr double kRungGap = 5;

/// The number of distinguishable colours; with more parts one colour is for the rest.
constexpr std::size_t kMostParts = 10;

/// The parts drawn by name, in the order of Part: all, or, if there are more than kMostParts, the
/// kMostParts − 1 that take the most time in all forecasts together.
std::vector<Part> named_parts(const std::vector<NamedForecast>& forecasts) {
  Waterfall total;
  for (const NamedForecast& forecast : forecasts) {
    if (forecast.prediction->time) total += forecast.prediction->time->waterfall;
  }
  std::vector<Part> parts;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (total[static_cast<Part>(i)] > 0) parts.push_back(static_cast<Part>(i));
  }
  if (parts.size() <= kMostParts) return parts;
  std::stable_sort(parts.begin(), parts.end(), [&](Part a, Part b) { return total[a] > total[b]; });
  parts.resize(kMostParts - 1);
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// Adds the segments of one stacked bar from left to right.
class Bar {
 public:
  Bar(const NamedForecast& forecast, Json& rows) : forecast_(forecast), rows_(rows) {}
  void add(std::string_view part, double seconds) {
    if (seconds <= 0) return;
    const double expected = forecast_.prediction->time->expected_s;
    rows_.push_back({{"name", forecast_.name},
                     {"part", part},
                     {"from", end_},
                     {"to", end_ + seconds},
                     {"text", si(seconds, "s") + ", " + percent(seconds / expected)}});
    end_ += seconds;
  }
  double end() const { return end_; }

 private:
  const NamedForecast& forecast_;
  Json& rows_;
  double end_ = 0;
};

Json amount(std::string_view field, std::string_view title, std::string_view unit, double most,
            double width) {
  return linear_channel(field, title, {0, most > 0 ? most : 1},
                        {{"labelExpr", si_label(unit)}, {"tickCount", width < 400 ? 3 : 6}});
}

/// The end of an axis (in its unit) that leaves room in the frame for the texts after the bars.
double with_room(double most, const std::vector<std::string>& texts, double frame) {
  double widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, text_width(text));
  constexpr double kBeside = 12;
  return most * frame / std::max(frame / 4, frame - widest - kBeside);
}

std::vector<std::string> names_of(const Json& rows, const char* field) {
  std::vector<std::string> names;
  for (const Json& row : rows) names.push_back(row.at(field).get<std::string>());
  return names;
}

Json total_row(const NamedForecast& forecast) {
  const Forecast& time = *forecast.prediction->time;
  return {{"name", forecast.name},
          {"expected", time.expected_s},
          {"low", time.low_s},
          {"high", time.high_s},
          {"measured", forecast.measured_s ? Json(*forecast.measured_s) : Json()},
          {"end", std::max(time.high_s, forecast.measured_s.value_or(0))},
          {"text", si(time.expected_s, "s")}};
}

Json part_layers(const BarNames& bars, double most, const std::vector<std::string>& names) {
  const auto x = [&](const char* field) { return amount(field, "Time", "s", most, bars.frame()); };
  const Json y = bars.y("name");
  Json colours = colour("part", names, "", legend_columns(names, bars.frame(), 6));
  colours["legend"]["symbolType"] = "square";
  Json layers = Json::array();
  layers.push_back(
      layer("parts", "parts", bars.moved(mark("bar", "part", {{"height", kBar}})),
            {{"x", x("from")},
             {"x2", {{"field", "to"}}},
             {"y", y},
             {"color", colours},
             {"tooltip", tooltip({{"name", "Setting"}, {"part", "Part"}, {"text", "Time"}})}}));
  layers.push_back(layer("part-intervals", "totals", bars.moved(mark("rule", "reference")),
                         {{"x", x("low")}, {"x2", {{"field", "high"}}}, {"y", y}}));
  layers.push_back(layer("part-totals", "totals",
                         bars.moved(mark("text", "bar-text", {{"align", "left"}, {"dx", 9}})),
                         {{"x", x("end")}, {"y", y}, {"text", {{"field", "text"}}}}));
  layers.push_back({{"name", "part-measured"},
                    {"data", {{"name", "totals"}}},
                    {"transform", {{{"filter", "isValid(datum.measured)"}}}},
                    {"mark", bars.moved(mark("point", "ridge", {{"filled", true}, {"size", 60}}))},
                    {"encoding", {{"x", x("measured")}, {"y", y}}}});
  return layers;
}

/// The label of a level: "requested", "L1", "L2" or "DRAM".
std::string_view level_name(Level level) {
  switch (level) {
    case Level::requested:
      return "requested";
    case Level::l1:
      return "L1";
    case Level::l2:
      return "L2";
    case Level::dram:
      return "DRAM";
  }
  return "";
}

}  // namespace

std::string parts_chart(const std::vector<NamedForecast>& forecasts, double width) {
  const std::vector<Part> parts = named_parts(forecasts);
  std::vector<std::string> names;
  names.reserve(parts.size() + 1);
  for (const Part part : parts) names.emplace_back(name(part));
  Json rows = Json::array(), totals = Json::array();
  double most = 0;
  bool measured = false;
  for (const NamedForecast& forecast : forecasts) {
    if (!forecast.prediction->time) continue;
    const Forecast& time = *forecast.prediction->time;
    Bar bar(forecast, rows);
    for (const Part part : parts) bar.add(name(part), time.waterfall[part]);
    // A rest below a millionth is rounding.
    if (const double rest = time.expected_s - bar.end(); rest > 1e-6 * time.expected_s) {
      bar.add("other", rest);
      add_once(names, "other");
    }
    totals.push_back(total_row(forecast));
    most = std::max({most, time.high_s, forecast.measured_s.value_or(0)});
    measured = measured || forecast.measured_s;
  }
  const BarNames bars(names_of(totals, "name"), width, frame_without_axis(width), kBar, kGap);
  const double end = with_room(most, names_of(totals, "text"), bars.frame());
  Json data = {{"parts", std::move(rows)}, {"totals", std::move(totals)}};
  Json layers = part_layers(bars, end, names);
  bars.add_layer(layers, data);
  const char* subtitle = measured ? "The parts add up. Line: interval. ●:\u00a0measured."
                                  : "The parts add up. Line: interval.";
  return layered(chart("Where the expected time goes", subtitle, std::move(data)), bars.frame(),
                 bars.height(), std::move(layers), width);
}

std::string traffic_chart(const std::vector<NamedForecast>& forecasts, double width) {
  Json rows = Json::array();
  std::vector<std::string> names;
  double most = 0;
  for (const NamedForecast& forecast : forecasts) {
    for (const Rung& rung : traffic_ladder(*forecast.prediction)) {
      const std::string title =
          (forecasts.size() > 1 ? forecast.name + ": " : "") + std::string(level_name(rung.level));
      add_once(names, title);
      const double total = rung.traffic.total_bytes();
      most = std::max(most, total);
      std::string text = si(total, "B");
      if (rung.level != Level::requested) {
        text += ", " + figure_text(rung.to_requested, 3) + "×";
      }
      rows.push_back({{"name", title},
                      {"what", "read"},
                      {"from", 0},
                      {"to", rung.traffic.read_bytes},
                      {"end", total},
                      {"text", text},
                      {"reason", rung.reason}});
      rows.push_back({{"name", title},
                      {"what", "written"},
                      {"from", rung.traffic.read_bytes},
                      {"to", total},
                      {"end", total},
                      {"text", ""},
                      {"reason", rung.reason}});
    }
  }
  const BarNames bars(names, width, frame_without_axis(width), kRung, kRungGap);
  const double end = with_room(most, names_of(rows, "text"), bars.frame());
  const auto x = [&](const char* field) { return amount(field, "Bytes", "B", end, bars.frame()); };
  const Json y = bars.y("name");
  Json colours = colour("what", {"read", "written"}, "", 2);
  colours["legend"]["symbolType"] = "square";
  Json layers = Json::array();
  layers.push_back(
      layer("traffic", "traffic", bars.moved(mark("bar", "part", {{"height", kRung}})),
            {{"x", x("from")},
             {"x2", {{"field", "to"}}},
             {"y", y},
             {"color", colours},
             {"tooltip", tooltip({{"name", "Level"}, {"what", "Bytes"}, {"reason", "Why"}})}}));
  layers.push_back(layer("traffic-texts", "traffic",
                         bars.moved(mark("text", "bar-text", {{"align", "left"}, {"dx", 9}})),
                         {{"x", x("end")}, {"y", y}, {"text", {{"field", "text"}}}}));
  Json data = {{"traffic", std::move(rows)}};
  bars.add_layer(layers, data);
  return layered(chart("Where the bytes go", "×: of the bytes requested", std::move(data)),
                 bars.frame(), bars.height(), std::move(layers), width);
}

}  // namespace roofcast::reports
