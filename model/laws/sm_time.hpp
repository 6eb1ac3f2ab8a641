#pragma once
#include "model/laws/stations.hpp"

namespace roofcast {

/// SM cycles of a launch from its first block to its last, and how they divide.
struct SmTime {
  double cycles = 0;
  /// Cycles that each resource alone takes, on average over the SMs that have blocks.
  ByResource busy;
  double idle = 0;  ///< part of `cycles`: the average place is empty while the last blocks run
};

/// The SM time of a launch. Blocks follow each other in the places of an SM, each for the steady
/// cycle of its class; blocks of the first round start together.
SmTime sm_time(const Plan& plan, const Occupancy& occupancy, const MemoryCost& memory,
               const Gpu& gpu);

}  // namespace roofcast
