#pragma once
// Runs the microbenchmarks on the GPU at hand. This header needs no CUDA.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "validation/calibration/measurements.hpp"

namespace roofcast::validation {

struct CalibrateOptions {
  std::string gpu;    ///< the specification's name
  std::string build;  ///< version and git revision
  /// Before each microbenchmark; may throw to stop. May be empty.
  std::function<void(std::size_t done, std::size_t total, std::string_view name)> progress;
};

/// All microbenchmarks, in the table's order: some seconds. Throws NoDevice, and std::runtime_error
/// where the device did not do what a microbenchmark asked of it.
Measurements run_microbenchmarks(const CalibrateOptions& options);

}  // namespace roofcast::validation
