#pragma once
// From what the microbenchmarks measured to the values of an overlay.
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/calibration/measurements.hpp"
#include "validation/calibration/overlay_file.hpp"

namespace roofcast::validation {

/// A value that cannot be: above the datasheet's peak, or of the wrong order. It is not written.
struct Refusal {
  std::string key;
  double value = 0;
  std::string reason;
};

struct Calibration {
  Overlay overlay;
  std::vector<Refusal> refused;
};

/// What the curves say of each value of Sustained that they tell, checked against the
/// specification's peaks. A value whose curve is absent is left out. `curves_file` is named as the
/// run.
Calibration to_calibration(const Measurements& measurements, const std::string& curves_file,
                           const Gpu& gpu);

}  // namespace roofcast::validation
