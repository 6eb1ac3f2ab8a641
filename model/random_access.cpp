#include "model/random_access.hpp"

#include <algorithm>
#include <cmath>

#include "model/coalescing.hpp"

namespace roofcast {

double random_misses(double draws, double pieces, double held) {
  if (held >= pieces) return expected_distinct(pieces, draws);
  const double share = held / pieces;
  // Draws until `held` distinct pieces were seen: expected_distinct solved for the draws.
  const double until_full = share > 0 ? std::log1p(-share) / std::log1p(-1 / pieces) : 0;
  if (draws <= until_full) return expected_distinct(pieces, draws);
  return held + (draws - until_full) * (1 - share);
}

}  // namespace roofcast
