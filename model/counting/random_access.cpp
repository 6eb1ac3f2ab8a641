#include "model/counting/random_access.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/counting/coalescing.hpp"

namespace roofcast {

double random_misses(double draws, double pieces, double held) {
  if (held >= pieces) return expected_distinct(pieces, draws);
  const double share = held / pieces;
  // Draws until `held` distinct pieces were seen: expected_distinct solved for the draws.
  const double until_full = share > 0 ? std::log1p(-share) / std::log1p(-1 / pieces) : 0;
  if (draws <= until_full) return expected_distinct(pieces, draws);
  return held + (draws - until_full) * (1 - share);
}

double sector_hit_share(double table_lines, double streamed_lines, const SectoredCache& cache) {
  if (cache.lines <= 0) return 0;
  const auto touched = [&](double accesses) {
    return expected_distinct(table_lines, accesses) + streamed_lines * accesses;
  };
  constexpr int kBisections = 60;
  double low = 0;
  double high = 1e12;  // more accesses than any cache remembers
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (touched(middle) < cache.lines ? low : high) = middle;
  }
  const double line_there = expected_distinct(table_lines, low) / table_lines;
  const double same_sector = 1 / cache.sectors_per_line;
  return same_sector * line_there / (1 - (1 - same_sector) * line_there);
}

// P(fullest ≤ m) = d! ÷ p^d · [x^d] (Σ x^i ÷ i!, i = 0 … m)^p, and E = Σ P(fullest > m). Place by
// place: the chance that the draws left put at most m on each.
double expected_fullest(int draws, int places) {
  double mean = 0;
  for (int most = 0; most < draws; ++most) {
    // terms[d]: the coefficient of x^d, times d! ÷ p^d.
    std::vector<double> terms(static_cast<std::size_t>(draws) + 1);
    terms[0] = 1;
    for (int place = 0; place < places; ++place) {
      for (int sum = draws; sum >= 0; --sum) {
        double ways = 1, with_place = 0;
        for (int here = 0; here <= std::min(most, sum); ++here) {
          with_place += ways * terms[static_cast<std::size_t>(sum - here)];
          ways *= (sum - here) / (here + 1.0) / places;
        }
        terms[static_cast<std::size_t>(sum)] = with_place;
      }
    }
    mean += 1 - terms.back();
  }
  return mean;
}

}  // namespace roofcast
