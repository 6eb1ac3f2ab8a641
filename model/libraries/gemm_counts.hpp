#pragma once
// A product in a tile that a library may take: what its blocks do, counted.
#include <cmath>
#include <cstdint>

#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {

/// A along m, or B along n.
struct LibraryOperand {
  std::int64_t extent, tile;
  double joined;  ///< share of its lines that L2 looks up once for two neighbours
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
