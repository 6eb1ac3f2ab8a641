#pragma once
// A library's choices for a GEMM: kernels that the alignment of rows allows, tiles and splits of k
// worth a forecast; matrix-vector products; and the counts of a tile's blocks.
#include <cmath>
#include <optional>
#include <vector>

#include "model/libraries/gemm.hpp"
#include "model/libraries/gemm_tiles.hpp"

namespace roofcast::gemm {

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
  bool through_registers;          ///< two stages, which tiles reach through registers

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
Outline outline_of(const LibraryProduct& c, const Gpu& gpu);

}  // namespace roofcast::gemm
