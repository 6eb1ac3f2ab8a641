#pragma once
// For which values of an unknown a condition holds.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/input/unknown.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// One value of the unknown, and what was forecast with it.
struct Point {
  std::int64_t position = 0;  ///< Unknown::at says the value
  bool holds = false;
  std::optional<Prediction> prediction;
  std::string refusal;  ///< where there is no forecast
};

/// All values from first to last.
struct Span {
  Point first;
  Point last;
};

struct Solution {
  std::vector<Span> spans;  ///< where the condition holds, in rising order
  Point lowest;             ///< at the start of the range
  Point highest;            ///< at its end
  std::size_t forecasts = 0;
  std::size_t refused = 0;
  bool every_value = false;  ///< else values in equal ratios, and bisection between them
};

using Ask = std::function<Point(std::int64_t position)>;

/// Asks at up to `most` positions, and bisects between two of them where the answer changes. Throws
/// InputError with the reason where no value has a forecast.
Solution find_values(const Unknown& unknown, std::int64_t most, const Ask& ask);

}  // namespace roofcast::cli
