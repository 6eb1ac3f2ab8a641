#pragma once
// Charts of forecasts side by side: where the time goes, and where the bytes go.
#include <optional>
#include <string>
#include <vector>

#include "model/types/prediction.hpp"

namespace roofcast::reports {

struct NamedForecast {
  std::string name;  ///< label of the bar: "gemm.tiled on h200-sxm"
  const Prediction* prediction = nullptr;
  std::optional<double> measured_s{};  ///< measured time (s), if any
};

/// Stacked bars: the parts of each expected time add up to it. With the interval, and a point at
/// the measured time. Forecasts without a time are left out. Vega-Lite JSON text.
std::string parts_chart(const std::vector<NamedForecast>& forecasts, double width);

/// The blocks of each launch over time: launch overhead, full waves and the last, partial wave. A
/// forecast of several launches, without a time or without waves is left out. Vega-Lite JSON text.
std::string timeline_chart(const std::vector<NamedForecast>& forecasts, double width);

/// Bytes read and written at each level from requested to DRAM, one bar per level and forecast.
/// Vega-Lite JSON text.
std::string traffic_chart(const std::vector<NamedForecast>& forecasts, double width);

}  // namespace roofcast::reports
