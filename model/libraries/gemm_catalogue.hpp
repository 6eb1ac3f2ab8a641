#pragma once
// What a library has for a product: the kernels that the rows of its operands leave it, their
// tiles, and of tiles and parts of k those worth a forecast; what it does with a vector; and what
// the blocks of a tile do, counted.
#include <cmath>
#include <vector>

#include "model/kernels/gemm/tiles.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::gemm {

/// Elements from row to row. Throws InputError where a leading dimension is less than a row.
RowLengths library_rows(const Problem& p);

/// Whether whole vectors of 16 B fit all rows, as the kernels for wgmma need.
bool library_aligned(const Problem& p);

/// Elements of a copy of the kernel that the library takes: there are kernels for 16, for 4 and for
/// 2 bytes, for all operands alike: rows of 8 bytes take the time of 4.
std::int64_t copied_vector(const Problem& p);

/// Whether the library takes its kernels for wgmma or tcgen05.
bool takes_wide(const Problem& p, const Gpu& gpu);

/// The tile that the problem names. Throws InputError where the library has none such here.
LibraryTile library_tile(const Problem& p, const Gpu& gpu);

/// The problem with each tile and number of parts that the library is taken to weigh up: for this
/// product `alone`, or for several that share a tile.
std::vector<Problem> blockings(const Problem& p, const Gpu& gpu, bool alone = false);

/// Whether the product is one of a matrix and a vector, which a library computes without tiles
/// (gemvx, gemv2T): one row of A or one column of B, of 32 bits or of rows that are no whole
/// vectors, stored as it is; and no tile of a matrix product is asked for.
bool is_vector_product(const Problem& p);

/// A block sums `tile_n` outputs of a row of C (`tile_m` of a column), each by several threads
/// along k.
LaunchSequence plan_vector_product(const Problem& p);
std::vector<Problem> vector_candidates(const Problem& p, const Gpu& gpu);

/// The parts of k that are asked for: kernels for one product of a batch add nothing from others.
inline std::int64_t asked_splits(const Problem& p) {
  return p[kBatch] > 1 && p[kSplitK] == kToChoose ? 1 : p[kSplitK];
}

/// A along m, or B along n.
struct LibraryOperand {
  std::int64_t extent, tile;
  bool transposed;  ///< lies across k, along which alone wgmma takes tf32
  double joined;    ///< share of its lines that L2 looks up once for two neighbours
  Packing packing;

  std::int64_t tiles() const { return ceil_div(extent, tile); }
};

/// The product, and the way it is computed.
struct LibraryProduct {
  LibraryOperand a, b;
  double k, batch;
  LibraryTile tile;  ///< with its threads and stages
  std::int64_t splits;
  double element;          ///< bytes of A and B
  double result;           ///< bytes of C
  double widening;         ///< as of Packings
  double vector;           ///< elements that one copy of A or B takes
  bool aligned;            ///< whole vectors fit all rows
  bool takes_wide;         ///< by wgmma or tcgen05
  bool tensor;             ///< on the tensor cores
  bool through_registers;  ///< threads hold a tile on its way to shared memory, in two stages

  bool waits_for_copies() const { return through_registers || tile.stages == 1; }
  double outputs() const { return batch * as_double(a.extent) * as_double(b.extent); }
  double flops() const { return 2 * outputs() * k; }
  std::int64_t tiles() const { return a.tiles() * b.tiles(); }
  std::int64_t blocks() const { return tiles() * static_cast<std::int64_t>(batch) * splits; }
  double area() const { return as_double(tile.m * tile.n); }
  double lines() const { return as_double(tile.m + tile.n); }  ///< of a step
  double depth() const { return as_double(tile.step_bytes) / element; }
  double steps() const { return std::ceil(k / as_double(splits) / depth()); }

  /// What the SMs receive of an operand, bytes: each tile of the other takes it all.
  double received(const LibraryOperand& of, const LibraryOperand& other) const {
    return batch * k * element * of.packing.received * as_double(of.extent * other.tiles());
  }
  TileRaster raster() const;
};

/// Throws InputError where the library has no such tile here.
LibraryProduct library_product(const Problem& p, const Gpu& gpu, const Packings& packings = {});
Outline outline_of(const LibraryProduct& c, DType type, const Gpu& gpu);

}  // namespace roofcast::gemm
