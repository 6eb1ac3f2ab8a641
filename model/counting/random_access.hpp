#pragma once

namespace roofcast {

/// How many of `draws` independent accesses, each to one of `pieces` pieces of memory with equal
/// chance, miss a cache that holds `held` of them: until it is full each piece misses once, after
/// that an access hits with the chance held ÷ pieces.
double random_misses(double draws, double pieces, double held);

/// Mean number of `draws` independent accesses that fall on the fullest of `places`, each with
/// equal chance. Below 200 draws: counts of the draws' orders are kept as doubles.
double expected_fullest(int draws, int places);

/// A cache that keeps tags for lines and fetches single sectors of them.
struct SectoredCache {
  double lines = 0;
  double sectors_per_line = 4;
};

/// Share of independent accesses to random sectors of a table that hit, when each access also
/// brings `streamed_lines` lines that are not used again. A line stays until as many others as the
/// cache holds were touched (Che, Tung and Wang 2002: least recently used, one characteristic time
/// for all lines); the sector is there too if one of the accesses since the line came fetched it.
double sector_hit_share(double table_lines, double streamed_lines, const SectoredCache& cache);

}  // namespace roofcast
