#pragma once
// A closed queueing network: the blocks on an SM are its customers, pipes and memory its stations,
// latency a delay (mean value analysis after Schweitzer; the variability of service after Reiser).
#include <span>

#include "model/laws/stations.hpp"

namespace roofcast {

/// Cycles that a part of a block takes at the pipes when nobody else is there.
double own_pipes(const Visit& visit);

/// Waits of a block beside its steps.
enum class Ends : unsigned char {
  none,  ///< they are steps of a loop that runs
  last,  ///< its last products; the tile before has begun its first copies
  both,  ///< its first copies too
};

/// Cycles from a block's start to the start of the block in its place, with `resident` blocks on
/// the SM that have drifted apart: n = X · T(X), T the time of a block where X start per cycle.
/// `at_least` where that is more.
double steady_cycle(std::span<const Visit> visits, double resident, Ends ends, double at_least = 0);

/// Cycles of `resident` blocks that start a phase together: their latency shows once, then they
/// follow one another through the fullest station.
double lockstep_cycles(const Visit& visit, double resident);

}  // namespace roofcast
