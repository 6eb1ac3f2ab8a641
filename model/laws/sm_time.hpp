#pragma once
#include "model/laws/stations.hpp"

namespace roofcast {

/// SM cycles of a launch from its first block's start to its last block's end.
struct SmTime {
  double cycles = 0;
  /// Cycles of each resource alone, averaged over the SMs that have blocks.
  ByResource busy;
  double idle = 0;  ///< part of `cycles`: mean cycles that a place is empty at the end
};

/// The SM time of a launch. The places of an SM run block after block, each for the steady cycle of
/// its class; blocks of the first round start together.
SmTime sm_time(const Plan& plan, const Occupancy& occupancy, const MemoryCost& memory,
               const Gpu& gpu);

}  // namespace roofcast
