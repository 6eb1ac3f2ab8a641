#include "reports/point_labels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofcast::reports {
namespace {

constexpr double kCharacterWidth = 7.2;
constexpr double kHalfHeight = 7;
constexpr double kGap = 9;

/// A place for a label relative to its point: side −1 left, 0 centred, +1 right; rise upwards, in
/// line heights.
struct Seat {
  int side;
  double rise;
};

/// Nearest first.
constexpr std::array<Seat, 16> kSeats = {{{1, 0},
                                          {-1, 0},
                                          {0, 1.2},
                                          {0, -1.2},
                                          {1, 1},
                                          {1, -1},
                                          {-1, 1},
                                          {-1, -1},
                                          {1, 2.2},
                                          {1, -2.2},
                                          {-1, 2.2},
                                          {-1, -2.2},
                                          {1, 3.5},
                                          {1, -3.5},
                                          {-1, 3.5},
                                          {-1, -3.5}}};
constexpr double kFar = 2;  ///< line heights beyond which a label has a leader to its point

Box box_at(const Pixel& anchor, const Seat& seat, double width) {
  const double middle = anchor.y + seat.rise * 2 * kHalfHeight;
  double left = anchor.x - width / 2;
  if (seat.side > 0) left = anchor.x + kGap;
  if (seat.side < 0) left = anchor.x - kGap - width;
  return {left, middle - kHalfHeight, left + width, middle + kHalfHeight};
}

bool is_free(const Box& box, const Obstacles& around) {
  if (box.left < 2 || box.bottom < 2) return false;
  if (box.right > around.width - 2 || box.top > around.height - 2) return false;
  return std::none_of(around.taken.begin(), around.taken.end(),
                      [&](const Box& b) { return b.overlaps(box); });
}

/// Cost of a rise by one line height, in covered boxes of `avoided`.
constexpr double kLinesPerRise = 0.7;

/// The end of the leader at the text.
Pixel tip_of(const Box& box, const Pixel& anchor) {
  const double x = std::clamp(anchor.x, box.left + 4, box.right - 4);
  return {x, anchor.y > box.top ? box.top : box.bottom};
}

/// Places the label on the free seat of the lowest cost: covered boxes plus rise.
std::optional<PointLabel> place(const std::string& text, const Pixel& anchor,
                                Obstacles& obstacles) {
  std::optional<Box> best;
  bool far = false;
  double least = 0;
  for (const Seat& seat : kSeats) {
    const Box box = box_at(anchor, seat, text_width(text));
    if (!is_free(box, obstacles)) continue;
    const auto covered = std::count_if(obstacles.avoided.begin(), obstacles.avoided.end(),
                                       [&](const Box& b) { return b.overlaps(box); });
    const double cost = static_cast<double>(covered) + kLinesPerRise * std::abs(seat.rise);
    if (best && cost >= least) continue;
    best = box;
    least = cost;
    far = std::abs(seat.rise) > kFar;
  }
  if (!best) return std::nullopt;
  obstacles.taken.push_back(*best);
  PointLabel label{text, {best->left, (best->bottom + best->top) / 2}, anchor};
  if (far) label.tip = tip_of(*best, anchor);
  return label;
}

}  // namespace

double text_width(const std::string& text) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return kCharacterWidth * static_cast<double>(characters);
}

std::vector<std::optional<PointLabel>> point_labels(const std::vector<std::string>& texts,
                                                    const std::vector<Pixel>& anchors,
                                                    Obstacles obstacles) {
  std::vector<std::optional<PointLabel>> labels(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i].empty()) labels[i] = place(texts[i], anchors[i], obstacles);
  }
  return labels;
}

}  // namespace roofcast::reports
