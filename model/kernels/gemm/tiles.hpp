#pragma once
// The tiles and parts of k that a library is taken to choose from, the tiles by the matrix
// instruction of the GPU.
#include <array>
#include <cstdint>
#include <span>

#include "model/types/problem.hpp"

namespace roofcast::gemm {

/// A tile of the result, and how many of its blocks the library's kernel leaves room for on an SM.
struct LibraryTile {
  std::int64_t m;
  std::int64_t n;
  std::int64_t blocks_per_sm;
  double rate = 1;          ///< of its arithmetic, against the fastest tile's on the same pipe
  std::int64_t stages = 0;  ///< of steps that its copies are ahead; 0: not known
  bool ping_pong =
      false;  ///< sums of a tile leave while the next one's are made; they share the stages
  std::int64_t side = 0;  ///< m or n: that along the rows of the matrix instruction; 0: either
  bool paired = false;    ///< with the neighbour along `side`: each copies half of the other side
};

/// Rows of A and columns of B that a block copies for a step.
constexpr std::int64_t copied_lines(const LibraryTile& tile) {
  const std::int64_t other = tile.m + tile.n - tile.side;
  return tile.paired ? tile.side + other / 2 : tile.m + tile.n;
}

// Tiles of cuBLAS 13.0 for wgmma, by the names of 1707 kernels (nvjet_sm90_*; cublas-kernels in
// validation/measured): one side, along m or n, is one of kWgmmaSides, the other any
// multiple of 8. Up to kSumsAlone sums a thread, each of two warpgroups takes tiles of its own, in
// turns; larger tiles two warpgroups share. Stages fill the shared memory.
inline constexpr std::array<std::int64_t, 7> kWgmmaSides = {64, 128, 192, 256, 320, 384, 512};
inline constexpr std::int64_t kWideColumns = 8;
inline constexpr std::int64_t kGroupThreads = 128;
inline constexpr std::int64_t kSumsAlone = 176;   ///< of a thread of one group
inline constexpr std::int64_t kSumsShared = 160;  ///< of a thread of two
inline constexpr std::int64_t kMostStages = 16;
/// Of shared memory, beside the stages: 1646 of 1692 names for 16 bits have the stages that it
/// leaves.
inline constexpr std::int64_t kResultBytes = 16384;
/// Of 1707 names 8 have two stages, which cannot hide the copies.
inline constexpr std::int64_t kLeastStages = 3;

/// With wgmma for tf32 (sm90_xmma_*, same profile): blocks that come and go, of one group of warps,
/// of two where 128x256. Their rates by those products that this project timed.
inline constexpr std::array kTf32Tiles = {
    LibraryTile{64, 64, 2, 0.7},  LibraryTile{64, 128, 2, 0.7},  LibraryTile{128, 64, 2, 0.7},
    LibraryTile{256, 64, 2, 0.7}, LibraryTile{128, 128, 2, 0.7}, LibraryTile{128, 256, 1, 0.9},
    LibraryTile{256, 128, 1, 0.9}};

/// With tcgen05, by the shapes of its instruction (PTX ISA, tcgen05.mma): a block multiplies 64 or
/// 128 rows by up to 256 columns, any multiple of 8; 64 rows take the time of 128. Two neighbours
/// with 128 rows each multiply as a pair, of which each holds half of the columns' operand.
inline constexpr std::array<std::int64_t, 2> kTcgen05Sides = {64, 128};
inline constexpr std::int64_t kTcgen05Columns = 256;

/// With mma.sync: cuBLAS's tiles (NVIDIA, Deep Learning Performance: Matrix Multiplication
/// Background), and two for few rows.
inline constexpr std::array kMmaTiles = {LibraryTile{256, 128, 1}, LibraryTile{128, 256, 1},
                                         LibraryTile{128, 128, 2}, LibraryTile{256, 64, 1},
                                         LibraryTile{64, 256, 1},  LibraryTile{128, 64, 2},
                                         LibraryTile{64, 128, 2},  LibraryTile{64, 64, 2},
                                         LibraryTile{32, 32, 4},   LibraryTile{16, 256, 1}};

// fp32 on the SIMT pipes: the tiles in the kernels' names in gemm_fp32.csv (sitar-lab/NeuSight,
// test set), and the rates of long sums on many tiles, by the rows of even position of its device
// of 108 SMs and 1.9 TB/s: narrow tiles copy more for each product.
/// Where copies pass through registers.
inline constexpr std::array kEarlySimtTiles = {LibraryTile{128, 128, 2}, LibraryTile{128, 64, 4},
                                               LibraryTile{64, 128, 4},  LibraryTile{128, 32, 4},
                                               LibraryTile{32, 128, 4},  LibraryTile{64, 64, 4},
                                               LibraryTile{64, 32, 4},   LibraryTile{32, 32, 4}};
/// Where they do not, and the tensor cores have no wgmma.
inline constexpr std::array kSimtTiles = {
    LibraryTile{128, 64, 4, 0.975}, LibraryTile{64, 64, 4, 0.94}, LibraryTile{128, 32, 4, 0.88},
    LibraryTile{32, 128, 4, 0.87},  LibraryTile{64, 32, 4, 0.81}, LibraryTile{32, 32, 4, 0.67}};
/// Their batches.
inline constexpr std::array kSimtBatchTiles = {LibraryTile{128, 128, 2}};
/// Of sums over more than `kDeepSum`, of which threads of a block take a quarter each.
inline constexpr std::array kSimtDeepTiles = {LibraryTile{128, 32, 4, 0.84},
                                              LibraryTile{64, 32, 4, 0.81}};
inline constexpr std::int64_t kDeepSum = 32768;
/// Where they have it.
inline constexpr std::array kLargeSimtTiles = {
    LibraryTile{256, 128, 1},       LibraryTile{128, 256, 1},       LibraryTile{128, 128, 2},
    LibraryTile{128, 64, 4, 0.975}, LibraryTile{64, 128, 4, 0.975}, LibraryTile{64, 64, 4, 0.94},
    LibraryTile{128, 32, 4, 0.88},  LibraryTile{32, 128, 4, 0.87},  LibraryTile{64, 32, 4, 0.81},
    LibraryTile{32, 64, 4, 0.81},   LibraryTile{32, 32, 4, 0.67}};

/// Parts of k among which a library chooses, and a setting that is left open.
inline constexpr std::array<std::int64_t, 8> kSplits = {1, 2, 3, 4, 6, 8, 12, 16};

/// Those of `known` worth a forecast, or the number asked for. A part is at least three steps long,
/// and no product is split further where one part less already makes `most_blocks` blocks, `blocks`
/// each.
constexpr std::span<const std::int64_t> splits_of(const std::int64_t& asked, std::int64_t steps,
                                                  std::int64_t blocks, std::int64_t most_blocks,
                                                  std::span<const std::int64_t> known = kSplits) {
  if (asked != kToChoose) return {&asked, 1};
  constexpr std::int64_t kLeastSteps = 3;
  std::size_t count = 1;
  while (count < known.size() && steps >= kLeastSteps * known[count] &&
         blocks * (known[count] - 1) < most_blocks) {
    ++count;
  }
  return known.first(count);
}
/// A temporary ends before the result.
std::span<const std::int64_t> splits_of(std::int64_t&& asked, std::int64_t, std::int64_t,
                                        std::int64_t,
                                        std::span<const std::int64_t> = kSplits) = delete;

}  // namespace roofcast::gemm
