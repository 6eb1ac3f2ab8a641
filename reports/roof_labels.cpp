#include "reports/roof_labels.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "reports/narrow.hpp"
#include "reports/point_labels.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kLineHeight = kRoofLabelHeight;
constexpr double kLeader = 18;  ///< px between the frame and the name of a roof
/// Share of a narrow frame's width that the name of a compute roof may take inside it.
constexpr double kMostInside = 0.7;
constexpr double kAbove = 9;  ///< px from a roof up to the middle of its text

/// Coordinates turned by the slopes' angle: u along the slopes, v to their upper left (px).
struct Turned {
  double cosine;
  double sine;
  double u(Pixel p) const { return p.x * cosine + p.y * sine; }
  double v(Pixel p) const { return p.y * cosine - p.x * sine; }
  Pixel pixel(double u, double v) const { return {u * cosine - v * sine, u * sine + v * cosine}; }
};

/// A slope in the turned frame: its v, and from where to where (u) it can be labelled.
struct Slope {
  std::string text;
  double v;
  double begin;
  double end;
  bool sustained;
};

/// A place for a name in the turned frame: left end u, middle v, width.
struct Seat {
  double u;
  double v;
  double width;
  bool meets(const Seat& other) const {
    return std::abs(v - other.v) < kLineHeight && u < other.u + other.width + 8 &&
           other.u < u + width + 8;
  }
};

class SlopeSeats {
 public:
  SlopeSeats(std::vector<Slope> slopes, std::vector<Pixel> points)
      : slopes_(std::move(slopes)), points_(std::move(points)) {}

  /// Takes the seat of the lowest cost, the first of equals; none if every seat covers a name.
  std::optional<Seat> take(const Slope& slope) {
    const double width = text_width(slope.text);
    const double above = slope.sustained ? -0.72 : 0.72;
    Seat best{};
    int least = kNoRoom;
    for (const double side : {above, -above}) {
      for (double u = slope.begin; u <= slope.end - width && least > 0; u += 10) {
        const Seat seat{u, slope.v + side * kLineHeight, width};
        if (const int covered = cost(seat, slope); covered < least) {
          least = covered;
          best = seat;
        }
      }
    }
    if (least == kNoRoom) return std::nullopt;
    taken_.push_back(best);
    return best;
  }

 private:
  static constexpr int kNoRoom = 1000;

  /// Cost: kNoRoom for each name covered, 10 for each other slope through it, 1 for each point.
  int cost(const Seat& seat, const Slope& own) const {
    int total = 0;
    for (const Seat& other : taken_) total += other.meets(seat) ? kNoRoom : 0;
    for (const Slope& slope : slopes_) {
      const bool other = slope.v != own.v;
      total += other && std::abs(slope.v - seat.v) < 0.45 * kLineHeight ? 10 : 0;
    }
    for (const Pixel& p : points_) {
      total += std::abs(p.y - seat.v) < kLineHeight && p.x > seat.u - 10 &&
                       p.x < seat.u + seat.width + 10
                   ? 1
                   : 0;
    }
    return total;
  }

  std::vector<Slope> slopes_;
  std::vector<Pixel> points_;  ///< in the turned frame: x is u, y is v
  std::vector<Seat> taken_;
};

/// "tensor fp16/bf16, vector fp32"
std::string names_of(const std::vector<ComputeRoof>& roofs) {
  std::string text;
  std::vector<std::string> pipes;
  for (const ComputeRoof& roof : roofs) add_once(pipes, roof.pipe);
  for (const std::string& pipe : pipes) {
    text += (text.empty() ? "" : ", ") + pipe;
    const char* separator = " ";
    for (const ComputeRoof& roof : roofs) {
      if (roof.pipe != pipe) continue;
      text += separator + std::string(name(roof.dtype));
      separator = "/";
    }
  }
  return text;
}

/// The label's left end: the rightmost at which it covers no point; if there is none, the label
/// ends at the frame's right edge.
double clear_of(const std::vector<Pixel>& points, const RoofLabel& label, double width) {
  constexpr double kStep = 8, kRadius = 7;
  const double length = text_width(label.text);
  const auto covers = [&](double left, const Pixel& p) {
    return std::abs(p.y - label.at.y) < kLineHeight / 2 + kRadius && p.x > left - kRadius &&
           p.x < left + length + kRadius;
  };
  for (double left = width - length; left > 0; left -= kStep) {
    const bool free =
        std::none_of(points.begin(), points.end(), [&](const Pixel& p) { return covers(left, p); });
    if (free) return left;
  }
  return width - length;
}

/// Points along the labels inside a frame of that width, so close that a slope's label covers
/// points of kernels rather than names.
std::vector<Pixel> points_along(const std::vector<RoofLabel>& labels, double width) {
  constexpr double kStep = 1;
  std::vector<Pixel> points;
  for (const RoofLabel& label : labels) {
    const double end = label.at.x + text_width(label.text);
    for (double x = label.at.x; x < std::min(end, width); x += kStep) {
      points.push_back({x, label.at.y});
    }
  }
  return points;
}

}  // namespace

std::vector<RoofLabel> slope_labels(const std::vector<MemoryRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y, double top_flops_per_s,
                                    const std::vector<Pixel>& points,
                                    const std::vector<RoofLabel>& levels) {
  const double angle = std::atan2(y.pixels_per_decade(), x.pixels_per_decade());
  const Turned turned{std::cos(angle), std::sin(angle)};
  const auto on_slope = [&](double rate, double intensity) {
    return Pixel{x.position(intensity), y.position(rate * intensity)};
  };
  std::vector<Slope> slopes;
  const auto add = [&](std::string text, double rate, bool sustained) {
    const Pixel begin = on_slope(rate, std::max(x.low, y.low / rate));
    const Pixel end = on_slope(rate, std::min(x.high, top_flops_per_s / rate));
    slopes.push_back(
        {std::move(text), turned.v(begin), turned.u(begin) + 22, turned.u(end) - 12, sustained});
  };
  for (const MemoryRoof& roof : roofs) {
    if (roof.sheet_bytes_per_s) {
      add(roof.level + " " + si(*roof.sheet_bytes_per_s, "B/s"), *roof.sheet_bytes_per_s, false);
    }
    if (roof.sustained_bytes_per_s) {
      add(roof.level + " sustained " + si(*roof.sustained_bytes_per_s, "B/s"),
          *roof.sustained_bytes_per_s, true);
    }
  }
  std::vector<Pixel> across = points_along(levels, x.pixels);
  across.insert(across.end(), points.begin(), points.end());
  for (Pixel& p : across) p = {turned.u(p), turned.v(p)};
  SlopeSeats seats(slopes, std::move(across));
  std::vector<RoofLabel> labels;
  for (const Slope& slope : slopes) {
    if (const auto seat = seats.take(slope)) {
      labels.push_back({slope.text, turned.pixel(seat->u, seat->v)});
    }
  }
  return labels;
}

void push_apart(std::vector<RoofLabel>& labels) {
  for (std::size_t i = 1; i < labels.size(); ++i) {
    labels[i].at.y = std::min(labels[i].at.y, labels[i - 1].at.y - kLineHeight);
  }
  double floor = 0;
  for (std::size_t i = labels.size(); i-- > 0;) {
    labels[i].at.y = std::max(labels[i].at.y, floor);
    floor = labels[i].at.y + kLineHeight;
  }
}

Json level_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y) {
  Json rows = Json::array();
  for (const RoofLabel& label : labels) {
    rows.push_back({{"text", label.text},
                    {"x", x.value(label.at.x)},
                    {"y", y.value(label.at.y)},
                    {"level", label.level},
                    {"asked", label.asked}});
  }
  return rows;
}

Json slope_label_rows(const std::vector<RoofLabel>& labels, const LogAxis& x, const LogAxis& y) {
  Json rows = Json::array();
  for (const RoofLabel& label : labels) {
    rows.push_back({{"text", label.text}, {"x", x.value(label.at.x)}, {"y", y.value(label.at.y)}});
  }
  return rows;
}

double slope_angle(const LogAxis& x, const LogAxis& y) {
  return -std::atan2(y.pixels_per_decade(), x.pixels_per_decade()) * 180 / std::numbers::pi;
}

std::vector<RoofLabel> level_labels(const std::vector<ComputeRoof>& roofs,
                                    const std::vector<bool>& asked, const LogAxis& x,
                                    const LogAxis& y, const std::vector<Pixel>& points) {
  const bool narrow = is_narrow(x.pixels);
  std::vector<RoofLabel> labels;
  for (std::size_t first = 0; first < roofs.size();) {
    std::size_t last = first;
    // Roofs within half a percent are one line on the screen and share a label.
    while (last < roofs.size() && roofs[last].flops_per_s > 0.995 * roofs[first].flops_per_s) {
      ++last;
    }
    const std::vector<ComputeRoof> same(roofs.begin() + static_cast<std::ptrdiff_t>(first),
                                        roofs.begin() + static_cast<std::ptrdiff_t>(last));
    const bool needed = std::find(asked.begin() + static_cast<std::ptrdiff_t>(first),
                                  asked.begin() + static_cast<std::ptrdiff_t>(last),
                                  true) != asked.begin() + static_cast<std::ptrdiff_t>(last);
    first = last;
    const double level = same.front().flops_per_s;
    const std::string figure = si(level, "FLOP/s");
    if (!narrow) {
      labels.push_back(
          {figure + "  " + names_of(same), {x.pixels + kLeader, y.position(level)}, level, needed});
    } else if (needed) {
      const std::string named = figure + "  " + names_of(same);
      const std::string text = text_width(named) < kMostInside * x.pixels ? named : figure;
      labels.push_back(
          {text, {x.pixels - text_width(text), y.position(level) + kAbove}, level, true});
    }
  }
  push_apart(labels);
  if (!narrow) return labels;
  for (RoofLabel& label : labels) label.at.x = clear_of(points, label, x.pixels);
  return labels;
}

}  // namespace roofcast::reports
