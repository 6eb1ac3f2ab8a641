#pragma once

namespace roofcast {

/// How many of `draws` independent accesses, each to one of `pieces` pieces of memory with equal
/// chance, miss a cache that holds `held` of them: until it is full each piece misses once, after
/// that an access hits with the chance held ÷ pieces.
double random_misses(double draws, double pieces, double held);

/// Hit share of independent accesses to random sectors of a table, in a cache of `cache_lines` that
/// has a tag for each line and fetches single sectors. Each access also brings `streamed_lines`
/// lines that are not used again. A line stays until as many others as the cache holds were touched
/// (Che, Tung and Wang 2002: least recently used, one characteristic time for all lines); a sector
/// hits if its line is there and an access since the line came fetched the sector.
double sector_hit_share(double table_lines, double streamed_lines, double cache_lines);

}  // namespace roofcast
