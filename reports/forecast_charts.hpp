#pragma once
// Charts of forecasts side by side: where the time goes, and where the bytes go.
#include <optional>
#include <string>
#include <vector>

#include "model/types/prediction.hpp"

namespace roofcast::reports {

struct NamedForecast {
  std::string name;  ///< of the bar: "gemm.tiled on h200-sxm"
  const Prediction* prediction = nullptr;
  std::optional<double> measured_s{};  ///< where the launch was measured
};

/// The parts of each expected time, end to end: they add up to it. With the interval, and a point
/// where a launch was measured; forecasts without a time are left out. Vega-Lite JSON text.
std::string parts_chart(const std::vector<NamedForecast>& forecasts, double width);

/// The blocks of each launch over time: waves that fill every SM, and the last one. Of a chain of
/// launches nothing is drawn. Vega-Lite JSON text.
std::string timeline_chart(const std::vector<NamedForecast>& forecasts, double width);

/// Bytes at each level, requested to DRAM, read and written, one group of bars a forecast.
/// Vega-Lite JSON text.
std::string traffic_chart(const std::vector<NamedForecast>& forecasts, double width);

}  // namespace roofcast::reports
