#pragma once
// What charts for a phone's screen share: the width of the picture, headings in lines, legends at
// its edge.
#include <string>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// Width of a whole picture on a screen of 400 px: the page's margins have the rest. In pixels.
inline constexpr double kNarrowPicture = 372;
/// A frame narrower than this, in pixels, has no room for names beside it.
inline constexpr double kNarrow = 330;
inline bool is_narrow(double width) {
  return width < kNarrow;
}

/// Frame of a chart without an axis at its left, where charts with one have frames of `width`.
double frame_without_axis(double width);

/// Pixels to the right of a narrow picture's left edge that headings and legends may take.
double narrow_room(double width);

/// Columns of a legend of these names, at most `most`, that fit a room of so many pixels.
int legend_columns(const std::vector<std::string>& names, double room, int most);

/// Lines of text of 12 px, parted at spaces, each within so many pixels where its words allow.
std::vector<std::string> lines_within(const std::string& text, double room);

/// Makes a chart narrow: headings in lines from the left edge, the legend there too, thin margins.
void make_narrow(Json& spec, double width);

}  // namespace roofcast::reports
