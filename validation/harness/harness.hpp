#pragma once
// Measures a suite on the present GPU. This header needs no CUDA.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "model/types/gpu.hpp"
#include "validation/runs/run.hpp"
#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// Cases are timed first and counted after, so `total` is up to twice the number of cases.
struct Progress {
  std::size_t done = 0;
  std::size_t total = 0;
  std::string label;  ///< what is being measured now
  std::optional<double> remaining_s;
};

struct HarnessOptions {
  std::string output;  ///< run file; resumed if it exists
  std::string build;   ///< version and git revision
  Shard shard;
  bool counters = true;
  std::function<void(const Progress&)> progress;        ///< may be empty
  std::function<void(const std::string& text)> notice;  ///< may be empty; for remarks, not errors
};

struct HarnessResult {
  Run run;
  std::size_t measured = 0;  ///< timed by this call
  std::size_t resumed = 0;   ///< already in the file
  /// The signal (SIGINT or SIGTERM) that ended the run; the file holds all cases finished before
  /// it.
  std::optional<int> stopped_by;
};

/// Measures the suite's cases that the run file lacks. Throws harness::NoDevice, and InputError for
/// a run file that cannot be resumed.
HarnessResult run_suite(const Suite& suite, const Gpu& gpu, const HarnessOptions& options);

}  // namespace roofcast::validation
