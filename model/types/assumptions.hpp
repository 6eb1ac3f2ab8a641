#pragma once
#include <limits>
#include <optional>

#include "model/types/prediction.hpp"

namespace roofcast {

/// Assumptions::queued_s where the device never waits for the host, as in the harness: it fills L2
/// with other data right before the launches.
inline constexpr double kQueueNeverEmpty = std::numeric_limits<double>::infinity();

/// The state of caches, clock and stream that a forecast assumes.
struct Assumptions {
  CacheState cache = CacheState::cold;
  std::optional<double> sm_clock_hz{};  ///< a measured clock instead of the expected one
  /// Time that earlier work still keeps the stream busy when the first kernel is submitted (s): the
  /// host's head start in submitting the others (laws/launching.hpp).
  double queued_s = 0;
  std::optional<LaunchMode> launch{};  ///< absent: graph if back to back, else stream
  /// Time for which the device has worked without a pause (s): the power limit lowers the clock in
  /// long runs (laws/clock.hpp).
  double worked_s = 0;
  /// By how much the mean power of all that the device does slows the SM clock, relative (1: to
  /// half of it), in a long run of many kernels.
  double clock_slowdown = 0;
};

}  // namespace roofcast
