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
  /// Called before each microbenchmark and at the end; may throw to stop. May be empty.
  std::function<void(std::size_t done, std::size_t total, std::string_view name)> progress;
};

/// Runs all microbenchmarks in the table's order, in some seconds. Throws
/// harness::NoDevice, and std::runtime_error if a microbenchmark finds a wrong result.
Measurements run_microbenchmarks(const CalibrateOptions& options);

}  // namespace roofcast::validation
