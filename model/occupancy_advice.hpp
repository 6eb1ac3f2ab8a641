#pragma once
// The nearest change of one setting of a launch with which more warps fit an SM.
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/launch.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

struct BetterSetting {
  std::string_view setting;  ///< "registers", "shared_bytes" or "threads"
  std::int64_t value;
  Occupancy occupancy;  ///< with that value and the others as they are
};

/// The largest smaller number of registers, the largest smaller shared memory, and the nearest
/// number of threads (whole warps) that each alone raise the warps of an SM; those that cannot are
/// left out.
std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules);

}  // namespace roofcast
