#pragma once
// Names beside points, so that none covers a point, another name or the frame.
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
  std::optional<Pixel> tip{};  ///< far from its point: where a line from there meets the text
};

/// Pixels of a text of 12 px sans serif, on the wide side. Characters of UTF-8: "µ" is one.
double text_width(const std::string& text);

/// What labels keep clear of.
struct Obstacles {
  std::vector<Box> taken;    ///< no label covers one
  std::vector<Box> avoided;  ///< lines: a label covers as few as it can
  double width = 0;          ///< of the frame
  double height = 0;
};

/// One label an anchor, in order; none for an empty text and where all places near it are taken.
std::vector<std::optional<PointLabel>> point_labels(const std::vector<std::string>& texts,
                                                    const std::vector<Pixel>& anchors,
                                                    Obstacles obstacles);

}  // namespace roofcast::reports
