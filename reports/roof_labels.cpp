#include "reports/roof_labels.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kLineHeight = 15;
constexpr double kCharacterWidth = 6.6;  // 11 px sans serif, on the wide side

std::string slope_text(const MemoryRoof& roof) {
  std::string text = roof.level;
  if (roof.sheet_bytes_per_s) text += " " + si(*roof.sheet_bytes_per_s, "B/s");
  if (roof.sustained_bytes_per_s) {
    text += (roof.sheet_bytes_per_s ? ", sustained " : " sustained ") +
            si(*roof.sustained_bytes_per_s, "B/s");
  }
  return text;
}

/// Characters of UTF-8: "µ" is one.
double width(const std::string& text) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return kCharacterWidth * static_cast<double>(characters);
}

/// A frame turned by the slopes' angle: u along them, v to their upper left.
struct Frame {
  double cosine;
  double sine;
  double u(Pixel p) const { return p.x * cosine + p.y * sine; }
  double v(Pixel p) const { return p.y * cosine - p.x * sine; }
  Pixel pixel(double u, double v) const { return {u * cosine - v * sine, u * sine + v * cosine}; }
};

}  // namespace

std::vector<RoofLabel> slope_labels(const std::vector<MemoryRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y, double top_flops_per_s,
                                    const std::vector<Pixel>& points) {
  const double angle = std::atan2(y.pixels_per_decade(), x.pixels_per_decade());
  const Frame frame{std::cos(angle), std::sin(angle)};
  const auto on_slope = [&](double bytes_per_s, double intensity) {
    return Pixel{x.position(intensity), y.position(bytes_per_s * intensity)};
  };
  const auto height = [&](double bytes_per_s) { return frame.v(on_slope(bytes_per_s, x.low)); };

  std::vector<RoofLabel> labels;
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const double top = height(roofs[i].highest());
    const double bottom = height(roofs[i].lowest());
    const bool above =
        i == 0 || height(roofs[i - 1].lowest()) - top > 1.6 * kLineHeight ||
        (i + 1 < roofs.size() && bottom - height(roofs[i + 1].highest()) < 1.6 * kLineHeight);
    const double v = above ? top + 0.75 * kLineHeight : bottom - 0.75 * kLineHeight;

    const std::string text = slope_text(roofs[i]);
    const double rate = roofs[i].highest();
    const double begin = frame.u(on_slope(rate, std::max(x.low, y.low / rate))) + 22;
    const double end = frame.u(on_slope(rate, top_flops_per_s / rate)) - width(text) - 12;
    const auto taken = [&](double u) {
      return std::count_if(points.begin(), points.end(), [&](const Pixel& p) {
        return std::abs(frame.v(p) - v) < kLineHeight && frame.u(p) > u - 10 &&
               frame.u(p) < u + width(text) + 10;
      });
    };
    double best = begin;
    for (double u = begin; u <= end && taken(best) > 0; u += 10) {
      if (taken(u) < taken(best)) best = u;
    }
    labels.push_back({text, frame.pixel(best, v)});
  }
  return labels;
}

std::vector<RoofLabel> level_labels(const std::vector<ComputeRoof>& roofs, const LogAxis& x,
                                    const LogAxis& y) {
  std::vector<RoofLabel> labels;
  for (std::size_t first = 0; first < roofs.size();) {
    std::size_t last = first;
    // Two lines closer than half a percent are one line on the screen.
    while (last < roofs.size() && roofs[last].flops_per_s > 0.995 * roofs[first].flops_per_s) {
      ++last;
    }
    std::string text;
    std::vector<std::string> pipes;
    for (std::size_t i = first; i < last; ++i) add_once(pipes, roofs[i].pipe);
    for (const std::string& pipe : pipes) {
      text += (text.empty() ? "" : ", ") + pipe;
      const char* separator = " ";
      for (std::size_t i = first; i < last; ++i) {
        if (roofs[i].pipe != pipe) continue;
        text += separator + std::string(name(roofs[i].dtype));
        separator = "/";
      }
    }
    const double level = roofs[first].flops_per_s;
    labels.push_back(
        {si(level, "FLOP/s") + "  " + text, {x.pixels + 18, y.position(level)}, level});
    first = last;
  }
  // Highest first: push down what is too close to the one above, then what fell off the plot up.
  for (std::size_t i = 1; i < labels.size(); ++i) {
    labels[i].at.y = std::min(labels[i].at.y, labels[i - 1].at.y - kLineHeight);
  }
  double floor = 0;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    label->at.y = std::max(label->at.y, floor);
    floor = label->at.y + kLineHeight;
  }
  return labels;
}

}  // namespace roofcast::reports
