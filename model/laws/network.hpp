#pragma once
// A closed queueing network: the blocks on an SM are its customers, pipes and memory its stations,
// latency a delay (mean value analysis after Schweitzer; the variability of service after Reiser).
#include <span>

#include "model/laws/stations.hpp"

namespace roofcast {

/// Cycles of one part of a block at the pipes of an idle SM.
double own_pipes(const PhaseDemand& phase);

/// Pipeline fill and drain that a block's time contains beside its steps.
enum class Ends : unsigned char {
  none,  ///< neither: steps of a loop in steady state
  last,  ///< drain: last products; the tile before hides the first copies
  both,  ///< fill, the first copies, and drain
};

/// Cycles between block starts in one place of an SM with n = `resident` blocks out of step:
/// n = X · T(X), with T the time of a block if X start per cycle. At least `at_least`.
double steady_cycle(std::span<const PhaseDemand> phases, double resident, Ends ends,
                    double at_least = 0);

/// Cycles of `resident` blocks that start a phase together: latency is exposed once, then they
/// queue at the fullest station.
double lockstep_cycles(const PhaseDemand& phase, double resident);

}  // namespace roofcast
