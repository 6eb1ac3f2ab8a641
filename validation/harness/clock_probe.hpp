#pragma once
// Mean SM clock of an interval: cycles ÷ nanoseconds between two probes, each of which reads both
// counters on every SM. No probe runs beside the kernel, so that its time is not disturbed.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "validation/harness/handles.hpp"

namespace roofcast::harness {

/// One SM's counters at one moment; 0 if no block of the probe ran on that SM.
struct ClockReading {
  std::uint64_t cycles;
  std::uint64_t nanoseconds;
};

class ClockProbe {
 public:
  explicit ClockProbe(int sm_count);

  void restart(cudaStream_t stream);  ///< drops all intervals
  void begin(cudaStream_t stream);    ///< enqueues the first probe
  void end(cudaStream_t stream);      ///< enqueues the second probe
  /// Mean over all intervals since restart; waits for the stream. Nothing if no SM was read twice.
  std::optional<double> clock_hz(cudaStream_t stream) const;

 private:
  static constexpr std::size_t kIntervals = 256;  ///< later ones are not recorded
  void enqueue(std::size_t slot, cudaStream_t stream) const;

  unsigned sm_count_;
  std::size_t intervals_ = 0;
  DevicePointer<ClockReading> readings_;
};

}  // namespace roofcast::harness
