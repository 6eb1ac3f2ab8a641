#include "reports/plot.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/types/problem.hpp"
#include "reports/chart.hpp"
#include "reports/narrow.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

/// Ticks at powers of ten, and at 2 and 5 times them if the axis spans fewer than 2.5 decades.
Json ticks(const LogAxis& axis) {
  const std::vector<double> steps =
      axis.decades() < 2.5 ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
  Json values = Json::array();
  const int last = static_cast<int>(std::floor(std::log10(axis.high)));
  for (int e = static_cast<int>(std::floor(std::log10(axis.low))); e <= last; ++e) {
    for (const double step : steps) {
      const double value = step * std::pow(10.0, e);
      if (value >= axis.low && value <= axis.high) values.push_back(value);
    }
  }
  return values;
}

}  // namespace

std::string si_label(std::string_view unit) {
  if (unit.empty()) return "format(datum.value, '~r')";
  return "replace(format(datum.value, '~s'), regexp('([a-zA-Zµ]?)$'), ' $1" + std::string(unit) +
         "')";
}

double LogAxis::decades() const {
  return std::log10(high / low);
}
double LogAxis::position(double value) const {
  return std::log10(value / low) * pixels_per_decade();
}
double LogAxis::value(double position) const {
  return low * std::pow(10.0, position / pixels_per_decade());
}

Json LogAxis::channel(std::string_view field) const {
  return {
      {"field", field},
      {"type", "quantitative"},
      {"title", title},
      {"scale", {{"type", "log"}, {"domain", {low, high}}, {"nice", false}}},
      {"axis", {{"values", ticks(*this)}, {"labelExpr", si_label(unit)}, {"labelOverlap", true}}}};
}

Json linear_channel(std::string_view field, std::string_view title, Json domain, Json axis) {
  return {{"field", field},
          {"type", "quantitative"},
          {"title", title},
          {"scale", {{"domain", std::move(domain)}, {"nice", false}}},
          {"axis", std::move(axis)}};
}

Json nominal_channel(std::string_view field, const std::vector<std::string>& names, Json axis) {
  return {{"field", field},
          {"type", "nominal"},
          {"title", nullptr},
          {"scale", {{"domain", names}}},
          {"axis", std::move(axis)}};
}

Json at_value(Json channel, double value) {
  channel.erase("field");
  channel["datum"] = value;
  return channel;
}

Json layer(std::string_view name, const std::string& data, Json mark, Json encoding) {
  // Vega-Lite joins views of the same name, so a panel's layers get its prefix.
  return {{"name", data.substr(0, data.find(':') + 1) + std::string(name)},
          {"data", {{"name", data}}},
          {"mark", std::move(mark)},
          {"encoding", std::move(encoding)}};
}

Json mark(std::string_view type, std::string_view style, const Json& more) {
  Json result = {{"type", type}, {"style", style}};
  result.update(more);
  return result;
}

Json tooltip(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  Json result = Json::array();
  for (const auto& [field, title] : fields) {
    result.push_back({{"field", field}, {"type", "nominal"}, {"title", title}});
  }
  return result;
}

Json colour(std::string_view field, const std::vector<std::string>& names, std::string_view title,
            int columns) {
  return {{"field", field},
          {"type", "nominal"},
          {"scale", {{"domain", names}}},
          {"legend", {{"title", title}, {"orient", "bottom"}, {"columns", columns}}}};
}

Json shapes(std::string_view field, const std::vector<std::string>& names) {
  // Shapes with area, as the others have: a thin shape would vanish in its outline.
  constexpr const char* kHourglass = "M-1,-1.1L1,-1.1L-1,1.1L1,1.1Z";
  constexpr const char* kBowTie = "M-1.1,-1L-1.1,1L1.1,-1L1.1,1Z";
  constexpr const char* kStar =
      "M0,-1.3L.4,-.5L1.3,-.4L.6,.2L.8,1.1L0,.7L-.8,1.1L-.6,.2L-1.3,-.4L-.4,-.5Z";
  // One shape more than colours: the eleventh name has the first's colour and another shape.
  const Json all = {"circle",   "square",        "triangle-up",    "diamond",
                    "cross",    "triangle-down", "triangle-right", "triangle-left",
                    kHourglass, kStar,           kBowTie};
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(all[i % all.size()]);
  return {{"field", field}, {"type", "nominal"}, {"scale", {{"domain", names}, {"range", range}}}};
}

Json chart(std::string_view title, std::string_view subtitle, Json datasets) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"title", {{"text", title}, {"subtitle", subtitle}}},
          {"datasets", std::move(datasets)},
          {"config", chart_config(Theme::light)}};
}

std::string layered(Json chart, double frame, double height, Json layers, double width) {
  chart["width"] = frame;
  chart["height"] = height;
  chart["layer"] = std::move(layers);
  if (is_narrow(width)) make_narrow(chart, width);
  return json_text(chart);
}

void check_points(std::size_t count) {
  if (count <= kMostPoints) return;
  throw InputError("a chart of " + std::to_string(count) + " points: at most " +
                   std::to_string(kMostPoints) + " are drawn; take larger steps or a table");
}

std::string first_word(std::string_view text) {
  return std::string(text.substr(0, text.find(' ')));
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

}  // namespace roofcast::reports
