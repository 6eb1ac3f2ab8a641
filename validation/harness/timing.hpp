#pragma once
// Seconds of a launch in three cache states.
//
// cold: one launch between two events after L2 was filled with other data. The flush takes longer
// than enqueueing, so that no wait for the host is timed.
//
// warm: as cold, but between flush and launch a kernel reads the input that an earlier kernel would
// have written. Its lines in L2 are clean: their write-back counts to the earlier kernel.
//
// steady: a graph of many launches over buffer sets that together exceed 3 × L2, so that a set is
// evicted before it is used again and the time includes every write-back. The graph runs twice and
// the second run is timed: the first brings the caches into this state and hides the host's launch.
//
// After a warm-up, the baseline alternates with the kernel sample by sample (ABAB), so that both
// see the same drift of clocks and power.
#include <cuda_runtime.h>

#include <functional>
#include <optional>

#include "validation/harness/clock_probe.hpp"
#include "validation/harness/handles.hpp"
#include "validation/harness/l2_flush.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::harness {

/// Enqueues one launch over buffer set `set`.
using Launcher = std::function<void(std::size_t set, cudaStream_t)>;

struct Contenders {
  Launcher kernel;
  Launcher baseline;  ///< empty: none
  /// Enqueued between flush and launch to bring data into L2; may be empty.
  std::function<void(cudaStream_t)> before{};
};

struct Timed {
  validation::Timing kernel;
  validation::Timing baseline;
  std::optional<double> sm_clock_hz;  ///< mean over the kernel's samples
};

class Timer {
 public:
  Timer(const L2Flush& flush, int sm_count);

  /// Fastest of three cold launches (s); a slow kernel is launched once.
  double estimate_cold_s(const Launcher& launch);

  /// Times cold launches, or warm ones if the contenders have a `before`.
  Timed single(const Contenders& contenders, double estimate_s);
  /// Times graphs of `launches` launches, a multiple of `sets`.
  Timed steady(const Contenders& contenders, double estimate_s, std::size_t sets,
               std::size_t launches);

  cudaStream_t stream() const { return stream_.get(); }

 private:
  /// Warms the baseline up, since libraries initialize at their first call, and estimates its time
  /// (s); 0 without one.
  double warm_up(const Launcher& baseline);
  double time_cold(const Launcher& launch, ClockProbe* probe,
                   const std::function<void(cudaStream_t)>& before = {});
  double time_graph(cudaGraphExec_t graph, std::size_t launches, ClockProbe* probe);
  /// Takes one sample (s), with the probe around it if there is one.
  using Sample = std::function<double(ClockProbe* probe)>;
  /// As many samples as the time allows. `baseline` may be empty.
  Timed alternate(double seconds_a_sample, const Sample& kernel, const Sample& baseline);
  GraphExec capture(const Launcher& launch, std::size_t sets, std::size_t launches);

  const L2Flush& flush_;
  Stream stream_;
  Event start_;
  Event stop_;
  ClockProbe probe_;
};

}  // namespace roofcast::harness
