#pragma once
// Places names beside points so that no name covers a point, another name or the frame.
#include <optional>
#include <string>
#include <vector>

#include "reports/roof_labels.hpp"

namespace roofcast::reports {

/// A rectangle in pixels from the lower left corner.
struct Box {
  double left = 0;
  double bottom = 0;
  double right = 0;
  double top = 0;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && bottom < other.top && other.bottom < top;
  }
};

struct PointLabel {
  std::string text;
  Pixel at;                    ///< middle of the text's left end
  Pixel anchor;                ///< the point it names
  std::optional<Pixel> tip{};  ///< where its leader meets the text; only if far from its point
};

/// Width (px, rather too wide) of a UTF-8 text in 12 px sans serif: its characters × 7.2.
double text_width(const std::string& text);

/// What labels must not cover.
struct Obstacles {
  std::vector<Box> taken;    ///< a label never covers one
  std::vector<Box> avoided;  ///< lines; a label covers few of them
  double width = 0;          ///< of the frame (px)
  double height = 0;
};

/// One label per anchor, in order; none for an empty text or if every place near the anchor is
/// taken.
std::vector<std::optional<PointLabel>> point_labels(const std::vector<std::string>& texts,
                                                    const std::vector<Pixel>& anchors,
                                                    Obstacles obstacles);

}  // namespace roofcast::reports
