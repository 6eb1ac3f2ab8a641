#pragma once
// A closed queueing network: the blocks on an SM are its customers, pipes and memory its stations,
// latency a delay (mean value analysis after Schweitzer; the variability of service after Reiser).
#include <span>

#include "model/laws/stations.hpp"

namespace roofcast {

/// Cycles that a part of a block takes at the pipes of an idle SM.
double own_pipes(const Visit& visit);

/// What a block's time contains beside its steps: the fill and drain of its loops' pipelines.
enum class Ends : unsigned char {
  none,  ///< nothing: steps of a loop that runs
  last,  ///< the drain: last products; first copies began in the tile before
  both,  ///< the fill too: first copies
};

/// Cycles from a block's start to the start of the next block in its place, with n = `resident`
/// blocks on the SM out of step: n = X · T(X), T the time of a block if X start per cycle. No less
/// than `at_least`.
double steady_cycle(std::span<const Visit> visits, double resident, Ends ends, double at_least = 0);

/// Cycles of `resident` blocks that start a phase together: their latency is exposed once, then
/// they follow one another through the fullest station.
double lockstep_cycles(const Visit& visit, double resident);

}  // namespace roofcast
