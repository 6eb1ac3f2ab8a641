#include "reports/sweep_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include "reports/plot.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

/// An axis of positive values with a larger ratio of highest to lowest is logarithmic.
constexpr double kLinearSpan = 16;

/// The range of an axis' finite values.
class Span {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  bool empty() const { return low_ > high_; }
  double low() const { return empty() ? 0 : low_; }
  double high() const { return empty() ? 1 : high_; }
  bool logarithmic() const { return !empty() && low_ > 0 && high_ / low_ > kLinearSpan; }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

/// Values below 16384 in full, multiples of binary units as "1 Mi", others in 3 digits as "1 M".
std::string size_label(double value) {
  constexpr double kPlain = 16384;
  constexpr double kKibi = 1024;
  if (value < kPlain) return std::to_string(std::llround(value));
  std::string_view unit = " Ki";
  double scaled = value / kKibi;
  for (const std::string_view next : {" Mi", " Gi", " Ti"}) {
    if (scaled < kKibi) break;
    scaled /= kKibi;
    unit = next;
  }
  if (scaled == std::floor(scaled)) {
    return std::to_string(std::llround(scaled)).append(unit);
  }
  return si(value, "");
}

std::vector<double> swept_values(const SweepPlot& plot) {
  std::vector<double> values;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) values.push_back(point.x);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

bool is_power_of_two(double value) {
  return value >= 1 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Whether all values are powers of two: a logarithmic axis then spaces them evenly.
bool is_geometric(const std::vector<double>& values) {
  return values.size() > 3 && std::all_of(values.begin(), values.end(), is_power_of_two);
}

/// Ticks at the swept values; if there are too many, at the powers of two among them, or at every
/// n-th. A linear axis of many values has Vega's ticks. Labels are made here, since Vega has no
/// binary prefixes.
Json x_axis(const SweepPlot& plot, bool log, double width) {
  const std::size_t most_ticks = width < kSweepWidth ? 5 : 14;
  const std::vector<double> values = swept_values(plot);
  const std::size_t every = (values.size() + most_ticks - 1) / most_ticks;
  Json axis = {{"labelOverlap", true}, {"grid", false}};
  // Many values on a linear axis: Vega's round numbers read better than every n-th value.
  if (!log && every > 1) {
    // Values within 10% of each other need all digits: SI labels would look alike.
    constexpr double kNarrow = 0.9;
    const bool narrow = values.front() > kNarrow * values.back();
    axis["format"] = narrow ? "d" : "~s";
    if (narrow || width < kSweepWidth) axis["tickCount"] = width < kSweepWidth ? 3 : 8;
    return axis;
  }
  std::vector<double> shown;
  if (every > 1)
    std::copy_if(values.begin(), values.end(), std::back_inserter(shown), is_power_of_two);
  if (shown.size() < 3 || shown.size() > most_ticks) {
    shown.clear();
    for (std::size_t i = 0; i < values.size(); i += every) shown.push_back(values[i]);
  }
  std::string labels;
  for (const double value : shown) {
    labels += fmt::format("{}'{}':'{}'", labels.empty() ? "" : ",", std::llround(value),
                          size_label(value));
  }
  axis["values"] = shown;
  axis["labelExpr"] = "{" + labels + "}[toString(datum.value)]";
  return axis;
}

/// Vega expression for the labels of the quantity's axis.
std::string y_label(const Quantity& quantity) {
  if (quantity.unit == "%") return "format(datum.value, '.0%')";
  if (quantity.unit == "×") return "format(datum.value, '~g') + '×'";
  if (quantity.unit.empty()) return "format(datum.value, '~s')";
  return si_label(quantity.unit);
}

}  // namespace

Json sweep_x(const SweepPlot& plot, double width) {
  Span span;
  const std::vector<double> values = swept_values(plot);
  for (const double x : values) span.add(x);
  const bool log = span.logarithmic() || is_geometric(values);
  // Room between the frame and the first and last point.
  const double margin = log ? std::pow(span.high() / span.low(), 0.015)
                            : std::max(0.015 * (span.high() - span.low()), 1e-9);
  const double low = log ? span.low() / margin : span.low() - margin;
  const double high = log ? span.high() * margin : span.high() + margin;
  return {{"field", "x"},
          {"type", "quantitative"},
          {"title", plot.x_title},
          {"scale", {{"type", log ? "log" : "linear"}, {"domain", {low, high}}, {"nice", false}}},
          {"axis", x_axis(plot, log, width)}};
}

Json sweep_y(const SweepPlot& plot) {
  const Quantity& quantity = *plot.quantity;
  Span span;
  for (const SweepLine& line : plot.lines) {
    for (const SweepPoint& point : line.points) {
      span.add(point.value);
      span.add(point.measured.value_or(point.value));
      if (plot.scattered) continue;  // no intervals are drawn
      span.add(point.low.value_or(point.value));
      span.add(point.high.value_or(point.value));
    }
  }
  constexpr double kRoom = 1.15;
  if (span.logarithmic() && quantity.unit != "%") {
    const LogAxis axis{span.low() / kRoom, span.high() * kRoom, kSweepHeight,
                       std::string(quantity.title), std::string(quantity.unit)};
    Json channel = axis.channel("y");
    channel["axis"]["labelExpr"] = y_label(quantity);
    return channel;
  }
  const Json axis = {{"tickCount", 6}, {"labelExpr", y_label(quantity)}};
  const double top = span.high() > 0 ? span.high() * 1.06 : 1;
  return linear_channel("y", quantity.title, {0, top}, axis);
}

double axis_position(const Json& channel, double value, double pixels) {
  const Json& scale = channel.at("scale");
  const double low = scale.at("domain").at(0).get<double>();
  const double high = scale.at("domain").at(1).get<double>();
  if (scale.value("type", "linear") == "log") {
    return pixels * std::log(value / low) / std::log(high / low);
  }
  return pixels * (value - low) / (high - low);
}

}  // namespace roofcast::reports
