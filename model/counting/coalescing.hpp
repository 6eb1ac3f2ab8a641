#pragma once
#include <cstdint>
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast {

/// Units of the caches: L1 requests sectors from L2 and looks up lines.
inline constexpr std::int64_t kSectorBytes = 32;
inline constexpr std::int64_t kLineBytes = 128;
inline constexpr std::int64_t kWarpLanes = 32;

/// An access by a warp or any number of lanes: lane i touches access_bytes at offset + i · stride.
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

/// Expected misses of `draws` independent accesses to `pieces` equally likely pieces. Each piece
/// misses once until the cache is full with `held` of them; then the hit rate is held ÷ pieces.
double random_misses(double draws, double pieces, double held);

/// Hit rate of independent accesses to random sectors of a table, in a cache of `cache_lines` with
/// one tag per line and single-sector fills. Each access also brings `streamed_lines` single-use
/// lines. A line is evicted once as many other lines as the cache holds were touched (LRU with one
/// characteristic time for all lines: Che, Tung and Wang 2002). A sector hits if its line is cached
/// and an access since its arrival fetched the sector.
double sector_hit_share(double table_lines, double streamed_lines, double cache_lines);

/// Cycles the data pipe of L1 takes to deliver the access: the most distinct 4-byte words that any
/// of its 32 banks delivers. A line is spread over the banks as shared memory is.
std::int64_t bank_wavefronts(const WarpAccess& access);

/// As bank_wavefronts, for shared memory, which serves 16-byte accesses by half-warps in turn.
std::int64_t shared_wavefronts(const WarpAccess& access);

/// A dense row-major matrix, whose first element lies on a line boundary.
struct DenseMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t element_bytes = 4;

  constexpr std::int64_t pitch_bytes() const { return columns * element_bytes; }
};

/// Sectors touched by warps that read each row in pieces of `width` elements, summed over pieces.
double sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Sectors of sectors_along_rows that a piece covers only in part, counted once per piece.
double partial_sectors_along_rows(const DenseMatrix& matrix, std::int64_t width = 32);

/// Sectors touched by warps that read down the columns: one per element, fewer for shorter rows.
double sectors_down_columns(const DenseMatrix& matrix);

/// Mean units of `unit_bytes`, a power of two, that a piece touches. Pieces lie side by side in
/// rows of `pitch_bytes` and begin equally often at each multiple of the gcd of the three sizes.
double units_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes, std::int64_t unit_bytes);

/// Bytes of the smallest DRAM read; a sector where the specification is silent.
inline std::int64_t dram_access_bytes(const Gpu& gpu) {
  return static_cast<std::int64_t>(
      gpu.memory.dram_access_bytes.value_or(static_cast<double>(kSectorBytes)));
}

/// AccessPattern::read_density of tiles that read whole lines of each of many rows. It stands here
/// because model/kernels may not include the register, which has its source (law::kDensityOfLines).
inline constexpr double kDensityOfLines = 0.56;

/// The same of pieces of rows `pitch_bytes` apart: where these do not begin at lines, pieces share
/// their first and last line with their neighbours.
double density_of_pieces(std::int64_t piece_bytes, std::int64_t pitch_bytes);

/// "stride 16: 64 B moved for 4 B used".
std::string waste_text(const std::string& pattern, double moved_bytes, double used_bytes);

}  // namespace roofcast
