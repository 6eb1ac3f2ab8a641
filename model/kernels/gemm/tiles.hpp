#pragma once
// The tiles and parts of k that a library is taken to choose from, the tiles by the matrix
// instruction of the GPU.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::gemm {

/// Bytes that a step takes of a row of A or B, but for tiles that say otherwise.
inline constexpr std::int64_t kUsualStepBytes = 128;

/// A tile of the result, and how many of its blocks the library's kernel leaves room for on an SM.
struct LibraryTile {
  std::int64_t m;
  std::int64_t n;
  std::int64_t blocks_per_sm;
  double rate = 1;           ///< of its arithmetic, against the fastest tile's on the same pipe
  std::int64_t stages = 0;   ///< of steps that its copies are ahead; 0: not known
  bool ping_pong = false;    ///< one tile's sums leave while the next one's are made; stages shared
  std::int64_t threads = 0;  ///< 0: not known
  std::int64_t step_bytes = kUsualStepBytes;
};

/// Bytes of shared memory that the rows of A and columns of B of a step take.
constexpr std::int64_t stage_bytes(const LibraryTile& tile) {
  return (tile.m + tile.n) * tile.step_bytes;
}

// Tiles of cuBLAS 13.0 for wgmma, by the names of 1707 kernels (nvjet_sm90_*; cublas-kernels in
// validation/measured): one side, along m or n, is one of kWgmmaSides, the other any
// multiple of 8. Two warpgroups share a tile. Stages fill the shared memory.
inline constexpr std::array<std::int64_t, 4> kWgmmaSides = {64, 128, 192, 256};
inline constexpr std::int64_t kWideColumns = 8;
inline constexpr std::int64_t kGroupThreads = 128;
inline constexpr std::int64_t kSumsShared = 160;  ///< of a thread of two groups
inline constexpr std::int64_t kMostStages = 16;
/// Of shared memory, beside the stages: so 1646 of 1692 names for 16 bits have as many as fit.
inline constexpr std::int64_t kResultBytes = 16384;
/// Of 1707 names 8 have two stages, which cannot hide the copies.
inline constexpr std::int64_t kLeastStages = 3;

/// With wgmma for tf32 (sm90_xmma_*, same profile): a block on each SM. Their rate by products that
/// this project timed.
constexpr LibraryTile tf32_tile(std::int64_t m, std::int64_t n) {
  return {.m = m, .n = n, .blocks_per_sm = 1, .rate = 0.85};
}
inline constexpr std::array kTf32Tiles = {
    tf32_tile(64, 64),   tf32_tile(64, 128),  tf32_tile(128, 64), tf32_tile(64, 256),
    tf32_tile(128, 128), tf32_tile(128, 256), tf32_tile(256, 128)};

constexpr LibraryTile staged_tile(std::int64_t m, std::int64_t n, std::int64_t blocks_per_sm,
                                  std::int64_t threads, std::int64_t stages,
                                  std::int64_t step_bytes) {
  return {.m = m,
          .n = n,
          .blocks_per_sm = blocks_per_sm,
          .stages = stages,
          .threads = threads,
          .step_bytes = step_bytes};
}
/// With mma.sync for tf32, of small products where there is wgmma
/// (cutlass_80_tensorop_s1688gemm_*).
inline constexpr std::array kSmallTf32Tiles = {staged_tile(64, 64, 2, 128, 6, kUsualStepBytes)};
/// With mma.sync for rows of odd length where there is wgmma (cutlass_75_tensorop_s1688gemm_*):
/// elements pass through registers, a step ahead.
inline constexpr std::array kOddTiles = {staged_tile(128, 128, 2, 128, 2, 64),
                                         staged_tile(64, 64, 5, 128, 2, 64)};

/// With tcgen05, by the shapes of its instruction (PTX ISA, tcgen05.mma): a block multiplies 64 or
/// 128 rows by up to 256 columns, any multiple of 8.
inline constexpr std::array<std::int64_t, 2> kTcgen05Sides = {64, 128};
inline constexpr std::int64_t kTcgen05Columns = 256;

/// With mma.sync: cuBLAS's tiles (NVIDIA, Deep Learning Performance: Matrix Multiplication
/// Background), and one for few rows, whose threads wait for each of its copies
/// (cutlass_80_wmma_tensorop_*_32x32_128x1).
inline constexpr std::array kMmaTiles = {LibraryTile{256, 128, 1},
                                         LibraryTile{128, 256, 1},
                                         LibraryTile{128, 128, 2},
                                         LibraryTile{128, 64, 2},
                                         LibraryTile{64, 128, 2},
                                         LibraryTile{64, 64, 2},
                                         staged_tile(32, 32, 4, 128, 1, 256)};

/// On the SIMT pipes, of 8 elements of k at a time.
constexpr LibraryTile simt_tile(std::int64_t m, std::int64_t n, std::int64_t blocks_per_sm,
                                std::int64_t threads, std::int64_t stages) {
  return staged_tile(m, n, blocks_per_sm, threads, stages, 32);
}
/// By the names and blocks of kernels in gemm_fp32.csv (sitar-lab/NeuSight, test set).
inline constexpr std::array kSimtTiles = {
    simt_tile(128, 128, 2, 256, 2), simt_tile(128, 64, 4, 128, 2), simt_tile(64, 128, 4, 128, 2),
    simt_tile(64, 64, 4, 128, 2), simt_tile(32, 32, 4, 128, 2)};
/// Their batches, but for the first of those devices.
inline constexpr std::array kSimtBatchTiles = {simt_tile(128, 128, 2, 256, 2)};
/// Of newer releases (sm80_xmma_gemm_f32f32_*, cutlass_80_simt_sgemm_*): threads copy an element
/// at a time.
inline constexpr std::array kStagedSimtTiles = {
    simt_tile(128, 128, 2, 128, 3), simt_tile(128, 64, 2, 128, 3), simt_tile(64, 128, 2, 128, 3),
    simt_tile(64, 64, 4, 128, 3), simt_tile(32, 32, 10, 64, 3)};

/// Parts of k among which a library chooses, and a setting that is left open.
inline constexpr std::array<std::int64_t, 8> kSplits = {1, 2, 3, 4, 6, 8, 12, 16};

/// Those of `known` worth a forecast, or the number asked for. A part is at least `least_steps`
/// long, and no product is split further where one part less already makes `most_blocks` blocks,
/// `blocks` each.
inline std::vector<std::int64_t> splits_of(std::int64_t asked, std::int64_t steps,
                                           std::int64_t blocks, std::int64_t most_blocks,
                                           std::span<const std::int64_t> known = kSplits,
                                           std::int64_t least_steps = 3) {
  if (asked != kToChoose) return {asked};
  std::vector<std::int64_t> found = {1};
  for (const std::int64_t splits : known.subspan(1)) {
    if (steps < least_steps * splits || blocks * (splits - 1) >= most_blocks) break;
    found.push_back(splits);
  }
  return found;
}

}  // namespace roofcast::gemm
