#pragma once
// The tile scheduler of persistent kernels (gemm.wgmma, gemm.mma_sync): which block computes which
// tile, or which part of the k of a tile that is split.
#include <cstdint>

#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::gemm {

/// Divides 0 … 2^31 - 1 by a number that the host knows, with a multiplication and a shift:
/// Granlund and Montgomery, "Division by invariant integers using multiplication" (1994).
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

/// How many tiles of C are computed whole; the k of each other tile is split into `parts` items.
struct Split {
  int whole;    ///< number of whole tiles, by cluster; they come first
  int parts;    ///< parts of k of each other tile
  bool joined;  ///< the block of the last part adds the others; else a reduction kernel does
};

/// Number of the `tiles` tiles in full rounds, in which each of `clusters` clusters has a tile.
__host__ __device__ constexpr int in_full_rounds(int tiles, int clusters) {
  return tiles / clusters * clusters;
}

/// The raster: down `count` tile rows before the next column; with `of_columns`, across `count`
/// tile columns before the next row.
struct Groups {
  int count;
  bool of_columns = false;
};

/// The items of a persistent kernel, in order: the whole tiles of C, in groups of tile rows or
/// columns, matrix after matrix; then the first part of all split tiles, the second part, and so
/// on. A cluster takes `cluster` neighbouring tile rows at once. Tile rows beyond the last are
/// computed too, without copies of their operand, and not stored.
///
/// The host computes the divisors: a block looks up each of its items, and ordinary divisions would
/// take as long as several steps of k.
struct Schedule {
  int tile_rows, tile_columns, cluster;  // rows and columns of C in a tile; blocks of a cluster
  int down, across, steps;               ///< tiles of a matrix, down by cluster; k-slabs of a tile
  Groups groups;                         ///< count: of rows of clusters, or of tile columns
  int matrices;
  Split split;
  Divisor of_matrix, of_group;    ///< divide by the tiles of a matrix, of a group
  Divisor of_line, of_last_line;  ///< divide by the width of a group, of the last group
  Divisor of_part;                ///< divides by the number of split tiles

  struct Item {
    int matrix, row0, column0;
    Range steps;   ///< k-slabs of the item, each as deep as a stage
    int part = 0;  ///< number of the part of k
    int tile = 0;  ///< index among the split tiles; -1: whole
  };

  /// `depth` is the k of a stage, in elements; `groups.count` counts tiles.
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
  /// Number of tiles, by cluster.
  __host__ __device__ constexpr int tiles() const { return matrices * down * across; }
  __host__ __device__ constexpr int items() const {
    return split.whole + split_tiles() * split.parts;
  }
  /// Number of tiles whose k is split, by cluster.
  __host__ __device__ constexpr int split_tiles() const { return tiles() - split.whole; }
  /// The item of block `rank` in the cluster that takes item `index`.
  __host__ __device__ constexpr Item item(int index, int rank) const {
    if (index < split.whole) return item_of(index, rank, {0, steps}, 0, -1);
    const int part = of_part.quotient(index - split.whole);
    const int tile = of_part.remainder(index - split.whole);
    return item_of(split.whole + tile, rank, part_of(steps, part, split.parts), part, tile);
  }
  /// Workspace slot of the sums of any part but the last, which the block of the last part adds.
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
  /// grouped_tile of a matrix, or, with groups.of_columns, of its transpose.
  __host__ __device__ constexpr Place place_of(int index) const {
    const int first = of_group.quotient(index) * groups.count, in_group = of_group.remainder(index);
    const int left = (groups.of_columns ? across : down) - first;
    const Divisor& line = left < groups.count ? of_last_line : of_line;
    const Place place{first + line.remainder(in_group), line.quotient(in_group)};
    return groups.of_columns ? Place{place.column, place.row} : place;
  }
};

}  // namespace roofcast::cuda::gemm
