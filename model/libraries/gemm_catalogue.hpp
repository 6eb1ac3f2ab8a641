#pragma once
// A library's choices for a GEMM: its tiles, kernels that the alignment of rows allows, splits of k
// worth a forecast; matrix-vector products; and the counts of a tile's blocks.
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm.hpp"

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
                                          LibraryTile{128, 128, 1}, LibraryTile{128, 256, 1},
                                          LibraryTile{256, 128, 1}};
inline constexpr double kXmmaTf32Rate = 0.85;  ///< LibraryTile::rate of these in tf32, measured

/// A single-stage mma.sync tile for few rows, whose threads wait for each copy
/// (cutlass_80_wmma_tensorop_*_32x32_128x1, cutlass_75_wmma_tensorop_f16_*_32x32_128x1).
inline constexpr LibraryTile kSingleStageTile{32, 32, 4, 128, 1, 256};
/// mma.sync tiles for small tf32 GEMMs on GPUs with wgmma (cutlass_80_tensorop_s1688gemm_*).
inline constexpr std::array kSmallTf32Tiles = {LibraryTile{64, 64, 2, 128, 6},
                                               LibraryTile{64, 128, 1, 128, 6},
                                               LibraryTile{128, 64, 1, 128, 6}};
/// mma.sync tiles for rows of odd length on GPUs with wgmma (cutlass_75_tensorop_s1688gemm_*):
/// operands are loaded to registers one step ahead. The last one is fp16's alone.
inline constexpr std::array kOddTiles = {
    LibraryTile{256, 128, 1, 256, 2, 64}, LibraryTile{128, 256, 1, 256, 2, 64},
    LibraryTile{128, 128, 2, 128, 2, 64}, LibraryTile{64, 64, 5, 128, 2, 64}, kSingleStageTile};

/// tcgen05 tiles, by the shapes of the instruction (PTX ISA, tcgen05.mma): a block multiplies 64 or
/// 128 rows by up to 256 columns, any multiple of 8. A block has two tiles at a time (ping-pong).
inline constexpr std::array<std::int64_t, 2> kTcgen05Sides = {64, 128};
inline constexpr std::int64_t kTcgen05Columns = 256;

/// mma.sync tiles: cuBLAS's (NVIDIA, Deep Learning Performance: Matrix Multiplication Background).
inline constexpr std::array kMmaTiles = {LibraryTile{256, 128, 1}, LibraryTile{128, 256, 1},
                                         LibraryTile{128, 128, 2}, LibraryTile{128, 64, 2},
                                         LibraryTile{64, 128, 2},  LibraryTile{64, 64, 2},
                                         kSingleStageTile};

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

/// Whether all rows begin at multiples of 16 B, as wgmma and tcgen05 kernels need.
bool library_aligned(const Problem& p);

/// The kernels that cuBLAS takes.
LibraryKernels cublas_kernels(const Problem& p, const Gpu& gpu);

/// The problem with each tile and split that the library is assumed to consider: for one GEMM
/// `alone`, or for several that share a tile.
std::vector<Problem> blockings(const Problem& p, const Gpu& gpu, LibraryKernels kernels,
                               bool alone);

/// The tile that the problem names, if the kernels have it on this GPU.
std::optional<LibraryTile> find_tile(const Problem& p, const Gpu& gpu, LibraryKernels kernels);

/// Whether a library computes the GEMM as a matrix-vector product without tiles (gemvx, gemv2T): C
/// has one row or column; elements have 32 bits or rows are not aligned to 16 B, but not fp8; C has
/// no epilogue; and no GEMM tile is asked for.
bool is_vector_product(const Problem& p);

/// A block computes `tile_n` outputs of a row of C (`tile_m` of a column), each by threads along k.
LaunchSequence plan_vector_product(const Problem& p);
std::vector<Problem> vector_candidates(const Problem& p, const Gpu& gpu);

/// Bytes of the matrices of a batch as stored, and elements of C.
struct ProductSizes {
  double a, b, c, outputs;
};
ProductSizes sizes_of(const Problem& p, const Packings& packings = {});
/// Sets A, B, and C or its partial sums. With copies of B, each launch uses A, C and the next copy.
void set_matrices(Plan& plan, const Problem& p, const ProductSizes& sizes);
/// Appends the GEMM and, if k is split, the launch that reduces the splits.
void add_product(LaunchSequence& sequence, Plan plan, const Problem& p);

/// The splits of k asked for. A batch is not split if they are left open.
inline std::int64_t asked_splits(const Problem& p) {
  return p[kBatch] > 1 && p[kSplitK] == kToChoose ? 1 : p[kSplitK];
}

/// The problem with its tile and splits of k.
constexpr Problem in_tiles(Problem p, std::int64_t m, std::int64_t n, std::int64_t splits) {
  p[kTileM] = m;
  p[kTileN] = n;
  p[kSplitK] = splits;
  return p;
}

/// A along m, or B along n.
struct LibraryOperand {
  std::int64_t extent, tile;
  bool transposed;   ///< stored across k; wgmma takes tf32 along k only
  double coalesced;  ///< share of its lines that L2 looks up once for two neighbours
  Packing packing;

  std::int64_t tiles() const { return ceil_div(extent, tile); }
  double mean_tile() const { return as_double(extent) / as_double(tiles()); }  ///< within C's edges
};

/// Whether launches before the product convert A.
inline bool quantizes(const Problem& p) {
  return p[kQuantize] != kNothing;
}

/// The GEMM and its implementation.
struct LibraryProduct {
  const Problem& p;  ///< must outlive this object
  ProductSizes sizes;
  LibraryOperand a, b;
  double k;
  LibraryTile tile;                ///< with its threads and stages
  double widening, k_slabs;        ///< as in Packings
  double vector;                   ///< elements of A or B per copy
  std::optional<Instruction> mma;  ///< absent: multiplies on the SIMT pipes
  bool through_registers;          ///< one or two stages: tiles pass through registers

  bool is_async() const { return mma && *mma != Instruction::mma_sync; }
  double element() const { return size_bytes(p.dtype); }  ///< bytes of A and B
  double flops() const { return 2 * sizes.outputs * k; }
  std::int64_t blocks() const { return a.tiles() * b.tiles() * p[kBatch] * p[kSplitK]; }
  double area() const { return as_double(tile.m * tile.n); }
  double lines() const { return as_double(tile.m + tile.n); }  ///< rows and columns per step
  double depth() const { return as_double(tile.step_bytes) / element(); }
  double steps() const { return std::ceil(k * k_slabs / as_double(p[kSplitK]) / depth()); }

  /// Bytes of an operand that the SMs receive: each tile of the other operand reads it whole.
  double received(const LibraryOperand& of, const LibraryOperand& other) const {
    return as_double(p[kBatch]) * k * element() * of.packing.received *
           as_double(of.extent * other.tiles());
  }
};

/// Throws InputError if the library has no such tile here.
LibraryProduct library_product(const Problem& p, const Gpu& gpu, const Packings& packings);
/// Stores of C: lines of rows, or off 16 B pieces of rows, 32 a warp.
tensor::PieceStores stores_of(const LibraryProduct& c);
Outline outline_of(const LibraryProduct& c, const Gpu& gpu);

}  // namespace roofcast::gemm
