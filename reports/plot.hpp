#pragma once
// Pieces of Vega-Lite that every chart shares: logarithmic axes of known size, marks, tooltips.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// An expression for an axis' labels: d3 writes 10T, people read 10 TFLOP/s. Without a unit, no
/// prefix.
std::string si_label(std::string_view unit);

/// A logarithmic axis with the length it is drawn at, so that labels and arrows can be laid out.
struct LogAxis {
  double low = 1;
  double high = 10;
  double pixels = 1;
  std::string title;
  std::string unit;

  double decades() const;
  double pixels_per_decade() const { return pixels / decades(); }
  /// Pixels from the low end, and back.
  double position(double value) const;
  double value(double position) const;

  /// A channel that encodes the field on this axis.
  Json channel(std::string_view field) const;
};

/// `{"type": type, "style": style}` and what else the mark needs.
Json mark(std::string_view type, std::string_view style, const Json& more = Json::object());

/// Fields that already hold text, each under its title.
Json tooltip(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

/// Colour by the field, one entry of the legend a name, in the order given.
Json colour(std::string_view field, const std::vector<std::string>& names, std::string_view title,
            int columns);

/// A shape a name, so that colour is not all that tells them apart.
Json shapes(std::string_view field, const std::vector<std::string>& names);

/// The shell of a chart: schema, title, named data, theme.
Json chart(std::string_view title, std::string_view subtitle, Json datasets);

/// "gemm.tiled m=1 …" → "gemm.tiled".
std::string first_word(std::string_view text);

/// The distinct names in the order of their first appearance.
void add_once(std::vector<std::string>& names, const std::string& name);

}  // namespace roofcast::reports
