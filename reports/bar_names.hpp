#pragma once
// Names of horizontal bars: on an axis at their left where all of them are short, else in lines
// above the bars.
#include <string>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

class BarNames {
 public:
  /// Bars of so many pixels of height; `gap` is between two of them. The frame is `beside` pixels
  /// wide where the names stand beside it, `below` where they stand above the bars.
  BarNames(const std::vector<std::string>& names, double beside, double below, double bar,
           double gap);
  double frame() const { return frame_; }
  double height() const { return row_ * static_cast<double>(names_.size()); }
  /// The channel that places a bar by its name.
  Json y(std::string_view field) const;
  /// What moves a mark to the middle of its bar.
  Json moved(Json mark) const;
  /// The names where they stand above the bars.
  void add_layer(Json& layers, Json& datasets) const;

 private:
  /// From the middle of a row to the middle of its bar.
  double down() const;

  std::vector<std::string> names_;
  bool above_;
  double frame_;
  std::size_t lines_;  ///< of the longest name, above its bar
  double bar_;
  double row_;
};

}  // namespace roofcast::reports
