#pragma once
// Bytes that a kernel requests, bytes that cross each memory level, and the reasons.
#include <optional>
#include <string>
#include <vector>

#include "model/types/prediction.hpp"

namespace roofcast {

struct Rung {
  Level level = Level::requested;
  Traffic traffic;                 ///< bytes
  std::optional<double> to_above;  ///< bytes ÷ bytes at the level before; absent if 0 there
  double to_requested = 1;         ///< bytes ÷ requested bytes: the waste
  std::string reason;              ///< why bytes differ from the level before; may be empty
};

/// requested, l1, l2, dram, in this order. A level's reasons are the plan's, else the numbers in
/// words; DRAM's also state how many writes stay in L2. Empty for a family's limit, whose work has
/// no requests, and for a kernel without memory accesses.
std::vector<Rung> traffic_ladder(const Prediction& prediction);

}  // namespace roofcast
