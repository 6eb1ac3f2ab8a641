#pragma once
// Which block of gemm.wgmma computes what: tiles, and parts of the k of those that fill no round.
#include <cstdint>

#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::gemm {

/// Divides by a number that the host knows, by a multiplication: Granlund and Montgomery, "Division
/// by invariant integers using multiplication" (1994). Of 0 … 2^31 - 1.
struct Divisor {
  int divisor = 1;
  std::uint32_t factor = (std::uint32_t{1} << 31) + 1;
  int shift = 31;

  static constexpr Divisor by(int divisor) {
    int log = 0;
    while (std::int64_t{1} << log < divisor) ++log;
    return {divisor,
            static_cast<std::uint32_t>(
                (std::uint64_t{1} << (31 + log)) / static_cast<std::uint64_t>(divisor) + 1),
            31 + log};
  }
  __host__ __device__ constexpr int quotient(int n) const {
    return static_cast<int>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(n)) * factor >>
                            shift);
  }
  __host__ __device__ constexpr int remainder(int n) const { return n - quotient(n) * divisor; }
};

/// Which tiles of C are whole, and what becomes of the others: each of `parts` parts of k is an
/// item.
struct Split {
  int whole;    ///< tiles, in clusters; they come first
  int parts;    ///< of k, of the others
  bool joined;  ///< the block of the last part adds those before it; else a launch of its own does
};

/// Of so many tiles, those of rounds in which each of `clusters` clusters has one.
__host__ __device__ constexpr int in_full_rounds(int tiles, int clusters) {
  return tiles / clusters * clusters;
}

/// The order of tiles: down so many tile rows before the next column, or across so many tile
/// columns before the next row.
struct Groups {
  int count;
  bool of_columns = false;
};

/// The work of a persistent kernel: the tiles of C, in groups of tile rows or columns, matrix after
/// matrix; of those that are split all tiles of a part before the next part. A cluster takes
/// `cluster` neighbouring tile rows at once; rows of tiles beyond the last are computed from zeros
/// and not stored.
///
/// The host makes it: a block looks its items up, tile after tile, and divisions by numbers that it
/// does not know would take as long as several steps of k.
struct Schedule {
  int tile_rows, tile_columns, cluster;  // of a tile
  int down, across, steps;               ///< down counts rows of clusters
  Groups groups;                         ///< of those, or of columns
  int matrices;
  Split split;
  Divisor of_matrix, of_group;    ///< tiles of each
  Divisor of_line, of_last_line;  ///< across a group, and across the last one
  Divisor of_part;                ///< tiles that are split

  struct Item {
    int matrix, row0, column0;
    Range steps;   ///< of k, in steps of the depth
    int part = 0;  ///< of k
    int tile = 0;  ///< among those that are split; -1: it is whole
  };

  /// `depth` is what a stage holds of k; `groups` counts tiles.
  static constexpr Schedule of(int m, int n, int k, int tile_rows, int tile_columns, int depth,
                               int cluster, Groups groups, Split split, int matrices = 1) {
    const int down = (m + tile_rows * cluster - 1) / (tile_rows * cluster);
    const int across = (n + tile_columns - 1) / tile_columns;
    const int wanted = groups.of_columns ? groups.count : groups.count / cluster;
    const int group = wanted > 1 ? wanted : 1;
    const int grouped = groups.of_columns ? across : down;
    const int last = grouped % group == 0 ? group : grouped % group;
    const int split_tiles = matrices * down * across - split.whole;
    return {tile_rows,
            tile_columns,
            cluster,
            down,
            across,
            (k + depth - 1) / depth,
            {group, groups.of_columns},
            matrices,
            split,
            Divisor::by(down * across),
            Divisor::by(group * (groups.of_columns ? down : across)),
            Divisor::by(group),
            Divisor::by(last),
            Divisor::by(split_tiles > 0 ? split_tiles : 1)};
  }
  /// For all blocks of a cluster together.
  __host__ __device__ constexpr int tiles() const { return matrices * down * across; }
  __host__ __device__ constexpr int items() const {
    return split.whole + split_tiles() * split.parts;
  }
  /// Tiles whose k is split.
  __host__ __device__ constexpr int split_tiles() const { return tiles() - split.whole; }
  /// Of block `rank` of the cluster that takes item `index`.
  __host__ __device__ constexpr Item item(int index, int rank) const {
    if (index < split.whole) return item_of(index, rank, {0, steps}, 0, -1);
    const int part = of_part.quotient(index - split.whole);
    const int tile = of_part.remainder(index - split.whole);
    return item_of(split.whole + tile, rank, part_of(steps, part, split.parts), part, tile);
  }
  /// Where a part but the last leaves the sums of its tile for the block that joins them.
  __host__ __device__ constexpr int slot(int tile, int part, int rank) const {
    return (tile * (split.parts - 1) + part) * cluster + rank;
  }
  __host__ __device__ constexpr int slots() const {
    return split.joined ? slot(split_tiles(), 0, 0) : 0;
  }

 private:
  __host__ __device__ constexpr Item item_of(int index, int rank, Range range, int part,
                                             int tile) const {
    const int matrix = of_matrix.quotient(index);
    const Place place = place_of(index - matrix * of_matrix.divisor);
    return {
        matrix, (place.row * cluster + rank) * tile_rows, place.column * tile_columns, range, part,
        tile};
  }
  /// grouped_tile of a matrix, or of the transposed one.
  __host__ __device__ constexpr Place place_of(int index) const {
    const int first = of_group.quotient(index) * groups.count, in_group = of_group.remainder(index);
    const int left = (groups.of_columns ? across : down) - first;
    const Divisor& line = left < groups.count ? of_last_line : of_line;
    const Place place{first + line.remainder(in_group), line.quotient(in_group)};
    return groups.of_columns ? Place{place.column, place.row} : place;
  }
};

}  // namespace roofcast::cuda::gemm
