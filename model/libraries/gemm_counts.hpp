#pragma once
// A product in a tile that a library may take: what its blocks do, counted.
#include <cmath>
#include <cstdint>

#include "model/libraries/gemm.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {

/// The product, and the way it is computed.
struct LibraryProduct {
  double m, n, k;
  LibraryTile tile;
  std::int64_t splits;
  double element;   ///< bytes of A and B
  double result;    ///< bytes of C
  double vector;    ///< elements that one copy of A or B takes, by the alignment of their rows
  bool aligned;     ///< whole vectors: the kernels for the newest instructions take it
  bool takes_wide;  ///< by wgmma or tcgen05
  bool tensor;      ///< on the tensor cores
  double batch;
  double instruction_rows;  ///< of those
  /// Sectors of a line of each matrix, as multiples of those of one that begins at a sector.
  double sectors_a, sectors_b, sectors_c;
  /// Which operands lie across k, and are turned in shared memory: wgmma takes tf32 along it alone.
  bool turned_a, turned_b;
  double joined_a, joined_b;  ///< share of A and B that L2 looks up once for two neighbours

  std::int64_t rows() const { return ceil_div(static_cast<std::int64_t>(m), tile.m); }
  std::int64_t columns() const { return ceil_div(static_cast<std::int64_t>(n), tile.n); }
  std::int64_t blocks() const {
    return rows() * columns() * static_cast<std::int64_t>(batch) * splits;
  }
  double area() const { return as_double(tile.m * tile.n); }
  bool along_m() const { return tile.side == tile.m || (tile.side == 0 && tile.m % 64 == 0); }
  double copied_lines() const { return as_double(gemm::copied_lines(tile)); }
  double stage_bytes() const { return as_double(gemm::stage_bytes(tile)); }
  /// Whether threads hold a tile on its way to shared memory: then there are two stages.
  bool through_registers() const { return tensor && tile.stages == 2; }
  double depth() const { return as_double(tile.step_bytes) / element; }
  double steps() const { return std::ceil(k / as_double(splits) / depth()); }

  /// Wavefronts of the operands of a step.
  double operand_wavefronts() const;
  /// Those of turning them.
  double turned_wavefronts() const;
  /// Blocks whose tiles lie inside C, and the rows of A and columns of B that each copies; the
  /// others on average.
  struct CopiedLines {
    std::int64_t inside = 0;
    double of_inside = 0, of_cut = 0;
  };
  CopiedLines lines() const;
  /// Of a step that copies so many lines, by requests of the copy engine.
  double copy_requests(double lines) const;
  /// What of a step's operands each block looks up in L2.
  double step_lookup_bytes(const Gpu& gpu) const;
  TileRaster raster(const Gpu& gpu) const;
  /// Sums of parts that blocks write, bytes; 0 where k is not split.
  double partial_bytes() const;
  /// Those, or C by sectors.
  double stored_bytes() const;
  /// Sectors of C that its lines touch in part: L2 merges each with what lies beside it.
  double merged_sectors() const;
};

/// Throws InputError where the library has no such tile here.
LibraryProduct library_product(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::gemm
