#pragma once
// Finds the values of an unknown for which a condition holds.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/input/unknown.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// One value of the unknown and the forecast with it.
struct Point {
  std::int64_t position = 0;  ///< Unknown::at gives the value
  bool holds = false;
  std::optional<Prediction> prediction;
  std::string refusal;  ///< where there is no forecast
};

/// A range of values for which the condition holds, both ends included.
struct Span {
  Point first;
  Point last;
};

struct Solution {
  std::vector<Span> spans;  ///< where the condition holds, in rising order
  Point lowest;             ///< at the start of the unknown's range
  Point highest;            ///< at the end of the unknown's range
  std::size_t forecasts = 0;
  std::size_t refused = 0;
  bool every_value = false;  ///< all were asked; else values in equal ratios, then bisection
};

using Ask = std::function<Point(std::int64_t position)>;

/// Asks at up to `most` positions and bisects between two neighbours whose answers differ. Throws
/// InputError, with the first reason, where none of these has a forecast.
Solution find_values(const Unknown& unknown, std::int64_t most, const Ask& ask);

}  // namespace roofcast::cli
