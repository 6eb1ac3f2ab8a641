#pragma once
// Measures a suite on the present GPU. This header needs no CUDA.
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "model/types/gpu.hpp"
#include "validation/comparison/device_match.hpp"
#include "validation/runs/run.hpp"
#include "validation/runs/shard.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {

/// There is no GPU this build can use; what() says why and what to do.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

/// Properties of the current device, to choose its specification (match_device). Throws NoDevice.
DeviceFacts current_device();

/// Measures the suite's cases that the run file lacks. Throws NoDevice, and InputError for a run
/// file that cannot be resumed.
HarnessResult run_suite(const Suite& suite, const Gpu& gpu, const HarnessOptions& options);

}  // namespace roofcast::validation
