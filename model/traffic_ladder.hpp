#pragma once
// Bytes that a kernel asks of memory, bytes that cross at each level, and the reasons.
#include <optional>
#include <string>
#include <vector>

#include "model/types/prediction.hpp"

namespace roofcast {

/// One level of the ladder.
struct Rung {
  Level level = Level::requested;
  Traffic traffic;                 ///< bytes
  std::optional<double> to_above;  ///< bytes ÷ those of the level before; absent if 0 there
  double to_requested = 1;         ///< bytes ÷ those requested: the waste
  std::string reason;              ///< why they differ from the level before; may be empty
};

/// requested, l1, l2, dram, in this order. A level's reasons are the plan's, or where it gives none
/// the numbers in words; DRAM's also say how many writes stay in L2. Empty for a family's limit,
/// whose work has no requests, and for a kernel that touches no memory.
std::vector<Rung> traffic_ladder(const Prediction& prediction);

}  // namespace roofcast
