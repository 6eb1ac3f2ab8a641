#pragma once
// Pieces of Vega-Lite that every chart shares: logarithmic axes of known size, marks, tooltips.
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// Vega expression for an axis' labels: "10 TFLOP/s" in place of d3's "10T". Without a unit labels
/// have no SI prefix.
std::string si_label(std::string_view unit);

/// A logarithmic axis and its length in pixels, by which labels and arrows are laid out.
struct LogAxis {
  double low = 1;
  double high = 10;
  double pixels = 1;
  std::string title;
  std::string unit;

  double decades() const;
  double pixels_per_decade() const { return pixels / decades(); }
  /// Pixels from the low end to a value, and the value at such a distance.
  double position(double value) const;
  double value(double position) const;

  /// A channel that encodes the field on this axis.
  Json channel(std::string_view field) const;
};

/// A channel that encodes the field on a linear axis of that domain.
Json linear_channel(std::string_view field, std::string_view title, Json domain, Json axis);
/// A channel that places the field's names in their order.
Json nominal_channel(std::string_view field, const std::vector<std::string>& names, Json axis);
/// The channel at a value in place of its field.
Json at_value(Json channel, double value);

/// A layer that draws the data set named `data`. For data "PANEL: WHAT" its name begins with
/// "PANEL:".
Json layer(std::string_view name, const std::string& data, Json mark, Json encoding);

/// `{"type": type, "style": style}` with the members of `more`.
Json mark(std::string_view type, std::string_view style, const Json& more = Json::object());

/// A tooltip of {field, title}; the fields hold text.
Json tooltip(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

/// Colour by the field, with a legend of the names in their order.
Json colour(std::string_view field, const std::vector<std::string>& names, std::string_view title,
            int columns);

/// One shape per name, so that colour is not the only distinction.
Json shapes(std::string_view field, const std::vector<std::string>& names);

/// A chart without its marks: schema, title, named data sets, light theme.
Json chart(std::string_view title, std::string_view subtitle, Json datasets);

/// The text of a chart with layers in a frame of that size (px), made narrow if `width` is.
std::string layered(Json chart, double frame, double height, Json layers, double width);

/// "gemm.tiled m=1 …" → "gemm.tiled".
std::string first_word(std::string_view text);

/// Appends `name` unless `names` has it.
void add_once(std::vector<std::string>& names, const std::string& name);

}  // namespace roofcast::reports
