#pragma once
#include <limits>
#include <optional>

#include "model/types/prediction.hpp"

namespace roofcast {

/// For Assumptions::queued_s: the device never waits for the host, as in the harness, which fills
/// L2 with other data right before.
inline constexpr double kQueueNeverEmpty = std::numeric_limits<double>::infinity();

struct Assumptions {
  CacheState cache = CacheState::cold;
  std::optional<double> sm_clock_hz{};  ///< a measured clock instead of the expected one
  /// Work the stream still has before it when the first kernel is submitted: what the host may
  /// spend on submitting the others before the device waits for it (launching.hpp).
  double queued_s = 0;
  std::optional<LaunchMode> launch{};  ///< absent: as launch_costs says (launching.hpp)
};

}  // namespace roofcast
