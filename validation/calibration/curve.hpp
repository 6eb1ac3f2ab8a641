#pragma once
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

/// A curve that holds a single number.
inline Curve single(std::string microbenchmark, std::string series, std::string unit,
                    double value) {
  return {std::move(microbenchmark), std::move(series), "", std::move(unit), {{0, value}}};
}

}  // namespace roofcast::validation
