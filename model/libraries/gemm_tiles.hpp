#pragma once
// The tiles that a library is assumed to choose from.
#include <array>
#include <cstdint>

namespace roofcast::gemm {

/// Default of LibraryTile::step_bytes.
inline constexpr std::int64_t kUsualStepBytes = 128;

/// An output tile of a library's kernel.
struct LibraryTile {
  std::int64_t m;
  std::int64_t n;
  std::int64_t blocks_per_sm;
  std::int64_t threads = 0;                   ///< threads of a block; 0: not known
  std::int64_t stages = 0;                    ///< k-slabs in shared memory; 0: not known
  std::int64_t step_bytes = kUsualStepBytes;  ///< bytes per row of A or B in a k-slab
  double rate = 1;  ///< arithmetic rate relative to the fastest tile on the same pipe
};

/// Bytes of shared memory of one stage: the k-slabs of A and B.
constexpr std::int64_t stage_bytes(const LibraryTile& tile) {
  return (tile.m + tile.n) * tile.step_bytes;
}

// wgmma tiles of cuBLAS 13.0, by the names of 1707 kernels (nvjet_sm90_*, validation/measured): one
// side is one of kWgmmaSides, the other any multiple of 8. Two warpgroups share a tile.
inline constexpr std::array<std::int64_t, 4> kWgmmaSides = {64, 128, 192, 256};
inline constexpr std::int64_t kColumnUnit = 8;
inline constexpr std::int64_t kGroupThreads = 128;
inline constexpr std::int64_t kSumsShared = 160;  ///< most accumulators per thread, two warpgroups
inline constexpr std::int64_t kMostStages = 16;
/// Shared memory for the epilogue, by the stages in 1646 of 1692 names for 16-bit types.
inline constexpr std::int64_t kResultBytes = 16384;
/// Two stages cannot hide the copies; 8 of the 1707 names have two.
inline constexpr std::int64_t kLeastStages = 3;

/// wgmma tiles of fixed sides (sm90_xmma_*): cuBLAS's for tf32 (same profile), cuDNN's for images.
inline constexpr std::array kXmmaTiles = {LibraryTile{64, 64, 1},   LibraryTile{64, 128, 1},
                                          LibraryTile{128, 64, 1},  LibraryTile{64, 256, 1},
                                          LibraryTile{256, 64, 1},  LibraryTile{128, 128, 1},
                                          LibraryTile{128, 256, 1}, LibraryTile{256, 128, 1}};
inline constexpr double kXmmaTf32Rate = 0.85;  ///< LibraryTile::rate of these in tf32, measured

/// mma.sync tile for small tf32 GEMMs on GPUs with wgmma (cutlass_80_tensorop_s1688gemm_*).
inline constexpr std::array kSmallTf32Tiles = {LibraryTile{64, 64, 2, 128, 6}};
/// mma.sync tiles for rows of odd length on GPUs with wgmma (cutlass_75_tensorop_s1688gemm_*):
/// operands are loaded to registers one step ahead.
inline constexpr std::array kOddTiles = {
    LibraryTile{256, 128, 1, 256, 2, 64}, LibraryTile{128, 256, 1, 256, 2, 64},
    LibraryTile{128, 128, 2, 128, 2, 64}, LibraryTile{64, 64, 5, 128, 2, 64}};

/// tcgen05 tiles, by the shapes of the instruction (PTX ISA, tcgen05.mma): a block multiplies 64 or
/// 128 rows by up to 256 columns, any multiple of 8. A block has two tiles at a time (ping-pong).
inline constexpr std::array<std::int64_t, 2> kTcgen05Sides = {64, 128};
inline constexpr std::int64_t kTcgen05Columns = 256;

/// mma.sync tiles: cuBLAS's (NVIDIA, Deep Learning Performance: Matrix Multiplication Background),
/// and a single-stage tile for few rows, whose threads wait for each copy
/// (cutlass_80_wmma_tensorop_*_32x32_128x1).
inline constexpr std::array kMmaTiles = {LibraryTile{256, 128, 1},
                                         LibraryTile{128, 256, 1},
                                         LibraryTile{128, 128, 2},
                                         LibraryTile{128, 64, 2},
                                         LibraryTile{64, 128, 2},
                                         LibraryTile{64, 64, 2},
                                         LibraryTile{32, 32, 4, 128, 1, 256}};

/// SIMT tiles, with k-slabs of 8 fp32 elements, by gemm_fp32.csv (sitar-lab/NeuSight, test set):
/// batches take the first alone, on all its devices but one.
inline constexpr std::array kSimtTiles = {
    LibraryTile{128, 128, 2, 256, 2, 32}, LibraryTile{128, 64, 4, 128, 2, 32},
    LibraryTile{64, 128, 4, 128, 2, 32}, LibraryTile{64, 64, 4, 128, 2, 32},
    LibraryTile{32, 32, 4, 128, 2, 32}};
/// SIMT tiles of newer releases (sm80_xmma_gemm_f32f32_*, cutlass_80_simt_sgemm_*): threads copy
/// one element at a time.
inline constexpr std::array kStagedSimtTiles = {
    LibraryTile{128, 128, 2, 128, 3, 32}, LibraryTile{128, 64, 2, 128, 3, 32},
    LibraryTile{64, 128, 2, 128, 3, 32}, LibraryTile{64, 64, 4, 128, 3, 32},
    LibraryTile{32, 32, 10, 64, 3, 32}};

}  // namespace roofcast::gemm
