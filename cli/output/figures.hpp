#pragma once
#include <span>
#include <string_view>

#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// A column of a table of forecasts.
struct Figure {
  std::string_view title;  ///< with the unit: "limit_s"
  /// The value in SI units; NaN where the forecast has none.
  double (*value)(const Prediction&);
};

/// Every figure of a forecast that is a single number, in the order of the columns.
std::span<const Figure> figures();

}  // namespace roofcast::cli
