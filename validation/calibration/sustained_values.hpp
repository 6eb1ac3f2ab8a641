#pragma once
// Derives the values of an overlay from the microbenchmarks' curves.
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/calibration/measurements.hpp"
#include "validation/calibration/overlay_file.hpp"

namespace roofcast::validation {

/// A value left out of the overlay: not positive, above the datasheet's peak, or a latency no
/// longer than that of a nearer memory.
struct Refusal {
  std::string key;
  double value = 0;
  std::string reason;
};

struct Calibration {
  Overlay overlay;
  std::vector<Refusal> refused;
};

/// Derives every value of Sustained whose curve was measured and checks it against the
/// specification's peaks. The provenance names `curves_file` as the run.
Calibration to_calibration(const Measurements& measurements, const std::string& curves_file,
                           const Gpu& gpu);

}  // namespace roofcast::validation
