#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace roofcast::validation {

struct CurvePoint {
  double x = 0;
  double value = 0;
};

/// One quantity of a microbenchmark, over a varied parameter or as a single number.
struct Curve {
  std::string microbenchmark;  ///< "latency"
  std::string series;          ///< "global"
  std::string x_name;          ///< "footprint_bytes"; empty for a single number
  std::string unit;            ///< of the values: "clk", "B/s", "s", "1/clk"
  std::vector<CurvePoint> points;
};

/// value = at_zero + slope · x
struct Line {
  double at_zero = 0;
  double slope = 0;
};

/// The least-squares line through two points or more.
inline Line line_through(std::span<const CurvePoint> points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const CurvePoint& point : points) {
    n += 1, x += point.x, y += point.value, xx += point.x * point.x, xy += point.x * point.value;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  return {(y - slope * x) / n, slope};
}

/// A curve that holds a single number.
inline Curve single(std::string microbenchmark, std::string series, std::string unit,
                    double value) {
  return {std::move(microbenchmark), std::move(series), "", std::move(unit), {{0, value}}};
}

}  // namespace roofcast::validation
