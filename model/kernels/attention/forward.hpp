#pragma once
// Blocks of queries that K and V pass.
#include "model/kernels/attention/blocks.hpp"

namespace roofcast::attention {

/// How a launch adds the parts of split keys.
struct PartSums {
  std::int64_t warps_of_row = 1;
  std::int64_t parts_at_once = 4096;  ///< of a row, on their way
  std::int64_t shared_bytes = 0;      ///< of a block, where a row has several warps
};

struct Forward {
  Shape shape;
  Kernel kernel;
  Tile tile;
  std::int64_t width;       ///< as of Blocks
  std::int64_t packed = 1;  ///< query heads whose queries fill a tile together
  std::int64_t splits = 1;  ///< of the keys, each a block's
  bool writes_lse = false;
  PartSums sums{};

  Blocks blocks() const;
  std::int64_t copies() const { return shape.batch * shape.heads / packed; }
  /// Sums of parts, each with what scales it; 0 where keys are not split.
  double part_bytes() const;
};

/// K or V as forward reads it: of self-attention it was just computed, else it is a cache.
ArrayUse kv_input(const Shape& shape, ArrayId array);

BlockSteps forward_steps(const Forward& forward, DType type);
/// The launch without its classes of blocks.
Plan forward_plan(const Forward& forward, DType type);

/// Adds the blocks of a plan whose keys are dealt out to parts in units: some parts have one more
/// than others.
void deal_keys(Plan& plan, const Forward& forward, const BlockSteps& steps, std::int64_t unit);
/// Of the last block of a head to end, which adds the parts.
BlockSteps with_merging(BlockSteps steps, const Forward& forward);

/// cudaMemsetAsync of the counter from which blocks that stay take tiles: a launch of its own.
Plan cleared_counter();

Plan sum_of_parts(const Forward& forward);

}  // namespace roofcast::attention
