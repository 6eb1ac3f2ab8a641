#pragma once
#include <cstdint>
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast {

/// Units of the caches: L1 requests sectors from L2 and looks up lines.
inline constexpr std::int64_t kSectorBytes = 32;
inline constexpr std::int64_t kLineBytes = 128;
inline constexpr std::int64_t kWarpLanes = 32;

/// An access to memory by a warp, or by any number of lanes: lane i touches `access_bytes`
/// at offset + i · stride_bytes.
struct WarpAccess {
  std::int64_t stride_bytes = 0;
  std::int64_t access_bytes = 4;
  std::int64_t offset_bytes = 0;  ///< from a line boundary
  std::int64_t lanes = kWarpLanes;
};

/// Number of distinct units of `unit_bytes` that the access touches: 32 for sectors, 128 for lines.
std::int64_t distinct_units(const WarpAccess& access, std::int64_t unit_bytes);

/// Mean number of distinct units that `draws` independent accesses touch, each inside one of
/// `units` units with equal chance: u·(1 − (1 − 1/u)^d).
double expected_distinct(double units, double draws);

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

/// Cycles the data pipe of L1 takes to deliver the access: the most distinct 4-byte words that any
/// of its 32 banks delivers. A line is spread over the banks as shared memory is.
std::int64_t bank_wavefronts(const WarpAccess& access);

/// As bank_wavefronts, for shared memory: an access of 16 bytes serves the two halves of the warp
/// one after the other (by the counters).
std::int64_t shared_wavefronts(const WarpAccess& access);

/// A dense row-major matrix, whose first element lies on a line boundary.
struct DenseMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 4;

  constexpr std::int64_t pitch_bytes() const { return columns * element_bytes; }
};

/// Sectors touched by warps that walk along each row from its start in pieces of `width` elements:
/// a piece that does not begin on a sector boundary can touch one more.
double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Of these sectors the ones that a piece covers only in part, counted for each such piece.
double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Sectors touched by warps that walk down the columns: one per element, fewer if rows are shorter.
double sectors_down_columns(const DenseMatrix& matrix);

/// The least that DRAM moves for a read (B): a sector where the specification does not say.
inline std::int64_t dram_access_bytes(const Gpu& gpu) {
  return static_cast<std::int64_t>(
      gpu.memory.dram_access_bytes.value_or(static_cast<double>(kSectorBytes)));
}

/// AccessPattern::read_density of tiles, whose copies read one line of each of many rows: DRAM
/// sends random lines at 0.935 of the rate of streams (microbenchmark scattered, 128 B).
inline constexpr double kDensityOfLines = 0.56;

/// "stride 16: 64 B moved for 4 B used".
std::string waste_text(const std::string& pattern, double moved_bytes, double used_bytes);

}  // namespace roofcast
