#pragma once
// Layout of charts for a phone's screen: width of the picture, wrapped headings, legends at its
// left edge.
#include <string>
#include <vector>

#include "reports/theme.hpp"

namespace roofcast::reports {

/// Width of a whole picture on a screen of 400 px (px): the page's margins take the rest.
inline constexpr double kNarrowPicture = 372;
/// Frames narrower than this (px) have no room for names beside them.
inline constexpr double kNarrow = 330;
inline bool is_narrow(double width) {
  return width < kNarrow;
}

/// Frame width (px) of a chart without a y axis in the place of one with an axis and a frame of
/// `width` px. In a wide chart the frame stays `width`.
double frame_without_axis(double width);

/// Width (px) of headings and legends in a narrow picture whose frame is `width` px wide.
double narrow_room(double width);

/// Columns of a legend of these names that fit `room` px: 1 to `most`.
int legend_columns(const std::vector<std::string>& names, double room, int most);

/// Wraps text of 12 px at spaces into lines of at most `room` px; a longer word has its own line.
std::vector<std::string> lines_within(const std::string& text, double room);

/// Makes a chart narrow: wraps headings, aligns them and the legend left, and thins the margins.
void make_narrow(Json& spec, double width);

}  // namespace roofcast::reports
