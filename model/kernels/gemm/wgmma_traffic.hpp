#pragma once
// A product in a tile of gemm.wgmma, and what its blocks move.
#include <cstdint>
#include <span>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::tensor::wgmma {

/// Those that the kernel is compiled for.
std::span<const WgmmaTile> tiles_for(const Problem& p);
/// Of k, a step.
constexpr std::int64_t depth_of(const Problem& p) {
  return kTileLineBytes / element_bytes(p.dtype);
}

/// The product and its tile.
struct Choice {
  const Problem& p;  ///< which outlives it
  Sizes s;
  WgmmaTile tile;

  /// Of C, along the rows and the columns of an instruction.
  std::int64_t extent_down() const { return tile.turned ? p[kN] : p[kM]; }
  std::int64_t extent_across() const { return tile.turned ? p[kM] : p[kN]; }
  std::int64_t clusters_down() const { return ceil_div(extent_down(), tile.down() * tile.cluster); }
  std::int64_t across() const { return ceil_div(extent_across(), tile.across()); }
  std::int64_t tiles() const { return p[kBatch] * clusters_down() * tile.cluster * across(); }
  /// Of the last round, where its tiles are split along k.
  std::int64_t split_tiles(const Gpu& gpu) const {
    return p[kSplitRest] > 1 ? tiles() % gpu.slots(1) : 0;
  }
  std::int64_t steps() const { return ceil_div(ceil_div(p[kK], depth_of(p)), p[kSplitK]); }
  double area() const { return as_double(tile.m * tile.n); }
};

/// Throws InputError where there is no such tile or no such split.
Choice choice_of(const Problem& p);

/// What the launch writes: sums of parts of k, of all tiles or of the last round's, and C itself.
/// The sums of the last round are read again by the blocks that join them.
struct Written {
  double sums, joined, direct;
};
Written written(const Choice& c, const Gpu& gpu);

/// The operands by where an instruction has them: along its rows, and along its columns.
struct Sides {
  const Operands::Side &down, &across;
  double down_bytes, across_bytes;
};
Sides sides_of(const Choice& c, const Operands& operands);

/// Blocks ask L2 for the operand along an instruction's rows once for each tile across, and for the
/// other one once for each row of clusters, as far as they exist, by sectors.
double asked_bytes(const Choice& c, const Operands& operands);

/// By how many requests of the copy engine.
double copy_requests(const Choice& c, const Operands& operands);

/// What L2 has to look up.
double lookup_bytes(const Choice& c, const Operands& operands, const Gpu& gpu);

/// What comes to the blocks: the lines that exist, to the end of a step of k; of B stored by rows
/// of k the panels of 128 bytes that do. What a cluster shares comes to each of its blocks.
double box_bytes(const Choice& c, const Operands& operands);

/// Whether threads store what goes out, and not boxes: parts of k, and C whose rows are off 16
/// bytes.
bool by_threads(const Choice& c);

/// Sectors of all stores of C, or of the sums of parts of k.
double stored_sectors(const Choice& c);

/// Of those stores, pieces of rows that begin within a sector, counted by the lines that they
/// touch: L2 merges each.
double merged_stores(const Choice& c);

}  // namespace roofcast::gemm::tensor::wgmma
