#pragma once
// Which block of gemm.wgmma computes what: tiles, and parts of the k of those that fill no round.
#include <cstdint>

#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::gemm {

/// Which tiles of C are whole, and what becomes of the others: each of `parts` parts of k is an item.
struct Split {
  int whole;    ///< tiles, in clusters; they come first
  int parts;    ///< of k, of the others
  bool joined;  ///< the block of the last part adds those before it; else a launch of its own does
};

/// Of so many tiles, those of rounds in which each of `clusters` clusters has one.
__host__ __device__ constexpr int in_full_rounds(int tiles, int clusters) {
  return tiles / clusters * clusters;
}

/// The work of a persistent kernel: the tiles of C, in groups of tile rows, matrix after matrix; of
/// those that are split all tiles of a part before the next part. A cluster takes `cluster`
/// neighbouring tile rows at once; rows of tiles beyond the last are computed from zeros and not
/// stored.
struct Schedule {
  int tile_rows, tile_columns, depth, cluster;  // of a tile; depth is what a stage holds of k
  int down, across, steps, group;               ///< down and group count rows of clusters
  int matrices;
  Split split;

  struct Item {
    int matrix, row0, column0;
    Range steps;   ///< of k, in units of depth
    int part = 0;  ///< of k
    int tile = 0;  ///< among those that are split; -1: it is whole
  };

  /// `group_rows`: tile rows of a group.
  __host__ __device__ static constexpr Schedule of(int m, int n, int k, int tile_rows,
                                                   int tile_columns, int depth, int cluster,
                                                   int group_rows, Split split, int matrices = 1) {
    const int group = group_rows / cluster;
    return {tile_rows,
            tile_columns,
            depth,
            cluster,
            (m + tile_rows * cluster - 1) / (tile_rows * cluster),
            (n + tile_columns - 1) / tile_columns,
            (k + depth - 1) / depth,
            group > 1 ? group : 1,
            matrices,
            split};
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
    const int part = (index - split.whole) / split_tiles();
    const int tile = (index - split.whole) % split_tiles();
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
    const int each = down * across, matrix = index / each;
    const Place place = grouped_tile(index - matrix * each, down, across, group);
    return {
        matrix, (place.row * cluster + rank) * tile_rows, place.column * tile_columns, range, part,
        tile};
  }
};

}  // namespace roofcast::cuda::gemm
