#pragma once
// Charts as Vega-Lite specifications: data and encoding in one JSON document.
#include <string>
#include <vector>

#include "model/gpu.hpp"
#include "validation/compare.hpp"

namespace roofcast::reports {

/// A kernel's place under the roofline. Absent measured values draw no measured point.
struct RooflinePoint {
  std::string label;              ///< "gemm.vectorized m=4096 n=4096 k=4096 fp32"
  double intensity = 0;           ///< FLOP per DRAM byte, predicted
  double predicted_flops_per_s = 0;
  std::optional<double> measured_intensity;
  std::optional<double> measured_flops_per_s;
};

/// Roofs for DRAM, L2, shared memory and each arithmetic type the device has; the points with an
/// arrow from predicted to measured. Vega-Lite JSON text.
std::string roofline_chart(const Gpu& gpu, const std::vector<RooflinePoint>& points);

/// Measured time over predicted time for every case, log-log, the diagonal, ±10% band, error bars
/// p10–p90 across and low–high along.
std::string predicted_measured_chart(const validation::Comparison& comparison);

/// One self-contained page (opens offline).
std::string chart_page(const std::string& title, const std::string& vega_lite_json);

/// The page of a comparison: summary figures, both charts, the table of every case.
std::string report_page(const validation::Comparison& comparison, const Gpu& gpu);

}  // namespace roofcast::reports
