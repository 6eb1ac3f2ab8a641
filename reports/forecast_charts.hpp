#pragma once
// Charts of forecasts side by side: where the time goes, and where the bytes go.
#include <string>
#include <vector>

#include "model/types/prediction.hpp"

namespace roofcast::reports {

struct NamedForecast {
  std::string name;  ///< of the bar: "gemm.tiled on h200-sxm"
  const Prediction* prediction = nullptr;
};

/// The parts of each expected time, end to end: they add up to it. With the interval; forecasts without
/// a time are left out. Vega-Lite JSON text.
std::string parts_chart(const std::vector<NamedForecast>& forecasts, double width);

/// Bytes at each level, requested to DRAM, read and written, one group of bars a forecast. Vega-Lite
/// JSON text.
std::string traffic_chart(const std::vector<NamedForecast>& forecasts, double width);

}  // namespace roofcast::reports
