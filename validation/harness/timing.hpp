#pragma once
// Seconds of a launch, two ways.
//
// cold: one launch between two events after L2 was filled with other data. The flush, which takes
// longer than enqueueing, keeps the device busy meanwhile: no wait for the host is timed.
//
// warm: the same, and between the flush and the launch a kernel reads the input that an earlier
// kernel would have computed. It leaves what L2 holds of it clean: the write-back is the earlier
// kernel's.
//
// steady: a graph of many launches over buffer sets that together exceed 3 × L2, so that a set is
// gone from L2 before its turn comes again and every written byte is paid for. The graph runs twice
// and the second run is timed: the first brings the caches into that state and covers the host's
// launch.
//
// The baseline alternates with the kernel, sample by sample (ABAB), after the same warm-up: clocks
// and power drift over a run, and both then see the same drift.
#include <cuda_runtime.h>

#include <functional>
#include <optional>
#include <string>

#include "validation/harness/clock_probe.hpp"
#include "validation/harness/handles.hpp"
#include "validation/harness/l2_flush.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::harness {

/// Enqueues one launch over buffer set `set`.
using Launcher = std::function<void(std::size_t set, cudaStream_t)>;

struct Contenders {
  std::string label;
  Launcher kernel;
  Launcher baseline;  ///< empty: none
  /// Enqueued between flush and launch: brings into L2 what is there before; empty: nothing.
  std::function<void(cudaStream_t)> before{};
};

struct Timed {
  validation::Timing kernel;
  validation::Timing baseline;
  std::optional<double> sm_clock_hz;  ///< over the kernel's samples
};

class Timer {
 public:
  Timer(const L2Flush& flush, int sm_count);

  /// Fastest of a few cold launches; one alone of a slow kernel.
  double estimate_cold_s(const Launcher& launch);

  /// Cold, or warm where the contenders have a `before`.
  Timed single(const Contenders& contenders, double estimate_s);
  /// `launches`: of one graph, a multiple of `sets`.
  Timed steady(const Contenders& contenders, double estimate_s, std::size_t sets,
               std::size_t launches);

  cudaStream_t stream() const { return stream_.get(); }

 private:
  /// The baseline's estimate; 0 without one. Also its warm-up: libraries set up at their first
  /// call.
  double warm_up(const Launcher& baseline);
  double time_cold(const Launcher& launch, ClockProbe* probe,
                   const std::function<void(cudaStream_t)>& before = {});
  double time_graph(cudaGraphExec_t graph, std::size_t launches, ClockProbe* probe);
  GraphExec capture(const Launcher& launch, std::size_t sets, std::size_t launches);

  const L2Flush& flush_;
  Stream stream_;
  Event start_;
  Event stop_;
  ClockProbe probe_;
};

}  // namespace roofcast::harness
