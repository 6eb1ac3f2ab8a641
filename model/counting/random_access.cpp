#include "model/counting/random_access.hpp"

#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"

namespace roofcast {

double random_misses(double draws, double pieces, double held) {
  if (held >= pieces) return expected_distinct(pieces, draws);
  const double share = held / pieces;
  // Draws until `held` distinct pieces were seen: expected_distinct solved for the draws.
  const double until_full = share > 0 ? std::log1p(-share) / std::log1p(-1 / pieces) : 0;
  if (draws <= until_full) return expected_distinct(pieces, draws);
  return held + (draws - until_full) * (1 - share);
}

double sector_hit_share(double table_lines, double streamed_lines, double cache_lines) {
  if (cache_lines <= 0) return 0;
  const auto touched = [&](double accesses) {
    return expected_distinct(table_lines, accesses) + streamed_lines * accesses;
  };
  constexpr int kBisections = 60;
  double low = 0;
  double high = 1e12;  // more accesses than any cache remembers
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (touched(middle) < cache_lines ? low : high) = middle;
  }
  const double line_there = expected_distinct(table_lines, low) / table_lines;
  constexpr double same_sector = as_double(kSectorBytes) / as_double(kLineBytes);
  return same_sector * line_there / (1 - (1 - same_sector) * line_there);
}

}  // namespace roofcast
