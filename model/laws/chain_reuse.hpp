#pragma once
#include <vector>

#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Bytes of one array that an earlier launch of the program may have left in L2.
struct ChainReuse {
  Traffic bytes;
  double distance_bytes = 0;  ///< what went through L2 since
  bool from_before = false;   ///< computed by an earlier kernel, which is not the program's
};

/// Whether a node before `position` uses the array.
bool used_before(const LaunchSequence& program, std::size_t position, ArrayId array);

/// Of each array of node `position` that an earlier node used; where the program starts warm also
/// of its activation, of which an earlier kernel then is taken for a node before the first. All
/// arrays of the last user, of this node and of those between go through L2 before it comes round.
std::vector<ChainReuse> chain_reuse(const LaunchSequence& program, std::size_t position,
                                    CacheState cache = CacheState::cold);

}  // namespace roofcast
