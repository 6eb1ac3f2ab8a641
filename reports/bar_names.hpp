#pragma once
// Names of horizontal bars: on an axis left of the bars if all names are short, else in lines above
// each bar.
#include <string>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

class BarNames {
 public:
  /// `bar` is the height of a bar and `gap` the space between two (px). The frame is `beside` px
  /// wide if names stand left of it, which takes names up to a third of that, else `below` px.
  BarNames(const std::vector<std::string>& names, double beside, double below, double bar,
           double gap);
  double frame() const { return frame_; }
  double height() const { return row_ * static_cast<double>(names_.size()); }
  /// The y channel, which places a bar by its name.
  Json y(std::string_view field) const;
  /// Moves a mark from the middle of the row to the middle of the bar.
  Json moved(Json mark) const;
  /// Adds the names, if they stand above the bars.
  void add_layer(Json& layers, Json& datasets) const;

 private:
  /// Pixels from the middle of a row down to the middle of its bar.
  double down() const;

  std::vector<std::string> names_;
  bool above_;
  double frame_;
  std::size_t lines_;  ///< lines of the longest name above its bar; 0: names stand left
  double bar_;
  double row_;  ///< height of a bar with its gap and name (px)
};

}  // namespace roofcast::reports
