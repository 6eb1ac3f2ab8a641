#pragma once
// Attention kernels, a library's or this project's, and their launches. A block keeps a tile of
// queries or keys, and streams two matrices of the other sequence in steps.
#include "model/kernels/attention/tiles.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {

/// Arrays of a launch sequence: inputs, outputs and scratch.
enum Array : ArrayId {
  kQ,
  kK,
  kV,
  kDO,
  kO,
  kLse,
  kDQ,
  kDK,
  kDV,
  kHeadDK,  ///< dK of each query head, to be summed over a group (heads_apart)
  kHeadDV,
  kRowDots,  ///< D = rowsum(dO∘O), fp32
  kDqSums,   ///< dQ accumulated in fp32
  kParts,    ///< parts of O where keys are split
  kQkv,      ///< Q, K and V of new tokens as one GEMM writes them
  kNewKv,    ///< K and V of new tokens, appended to a cache of older ones
  kS,
  kP,
  kDP,
  kDropped,  ///< P after dropout
  kKept      ///< dropout mask, one byte per score
};

inline constexpr double kSumElement = 4;                ///< bytes of an fp32 sum
inline constexpr double kRowNumbers = 2 * kSumElement;  ///< bytes of a query's log-sum-exp and D

/// Share of a step's matrix products that a warpgroup waits for with nothing overlapped. Forward:
/// S, one of two products. Blocks of keys: half of five; exponentials, dS and a barrier overlap the
/// rest.
inline constexpr double kWaitedShare = 1.0 / 2;

/// The matrix instruction of a kernel, and the other instructions of its threads.
struct Kernel {
  Instruction product;              ///< all but mma_sync read shared memory themselves
  double instructions_a_score = 0;  ///< per score: scale, maximum, exponential, sum …
  double instructions_a_mask = 0;   ///< extra per score of a masked step
  /// Per score and element of the head dim, where threads multiply; 0: tensor cores multiply.
  double vector_instructions = 0;
  bool by_rows = false;  ///< wgmma or tcgen05 operands come by cp.async, existing rows only

  bool on_tensor_cores() const { return vector_instructions == 0; }
  bool async_mma() const { return product != Instruction::mma_sync; }
  /// Whether sums lie in tensor memory. Such GPUs also have packed fp32 instructions.
  bool in_tensor_memory() const { return product == Instruction::tcgen05; }
  /// The instruction that copies operands to shared memory.
  Instruction copy() const { return by_boxes() ? Instruction::bulk_copy : Instruction::cp_async; }
  bool by_boxes() const { return async_mma() && !by_rows; }
};

/// The tile of a block, and how its warps share it.
struct Tile {
  std::int64_t queries, keys;  ///< rows of Q and of K: one tile is kept, the other streamed
  std::int64_t warps;
  std::int64_t stages;             ///< buffers for each of the two streamed matrices
  std::int64_t blocks_per_sm = 1;  ///< blocks that fit an SM by their registers
  std::int64_t registers = 0;      ///< per thread
  std::int64_t shared_bytes = 0;
  /// Heads whose tiles run concurrently, so that their streamed matrices stay in L2.
  std::int64_t together = 1;
  double step_instructions = 0;   ///< warp instructions as compiled, mask included; 0: from Kernel
  double block_instructions = 0;  ///< warp instructions outside the steps
  /// Copies of a masked step in the code, which unmasked steps follow; 0: one loop for all steps.
  std::int64_t masked_copies = 0;
  double addition_bytes = 0;  ///< bytes of dQ that one L1 wavefront adds; 0: not known
  Waits waits{.tile_loads = 1, .barriers = 1};         ///< per step
  Waits waits_before{.tile_loads = 1, .barriers = 1};  ///< before the first step
  double chains = 1, waited_products = 1;              ///< as in Phase
  TileScheduler scheduler = TileScheduler::hardware;
  bool deals_keys = false;  ///< each warp has keys of its own; K and V share one buffer
  bool merges = false;      ///< the last block adds the parts of split keys; else a separate kernel
  bool in_order = false;    ///< tiles of a head in ascending order; else the longest first
  std::int64_t warps_across = 1;  ///< backward: warps along the columns; the others lie along rows
  std::int64_t parts = 1;     ///< backward: parts of a step; a block holds scores of one at a time
  std::int64_t dq_rows = 16;  ///< backward with mma.sync: rows of dQ that one warp sums
};

/// Warpgroups of a block that multiply. Where a block has two or more, one of them only copies.
constexpr std::int64_t multiplying_groups(std::int64_t warps) {
  return std::max<std::int64_t>(1, warps / 4 - 1);
}

/// Unmasked and masked steps of a block; means where unequal blocks form one class.
struct Steps {
  double full = 0;
  double masked = 0;
  double share = 1;  ///< share of a step's traffic: a part of the keys may end within a step

  double all() const { return full + masked; }
  friend bool operator==(const Steps&, const Steps&) = default;
};

/// Steps of the block of queries `first` to `last` over the tiles of `keys` keys that some query
/// sees. A tile is masked if some query does not see all of it or it extends beyond the last key.
Steps steps_over_keys(const Shape& shape, std::int64_t first, std::int64_t last, std::int64_t keys);

/// Steps of the block of keys `first` to `last` over tiles of `queries` queries. Queries beyond the
/// last need no mask: they add nothing.
Steps steps_over_queries(const Shape& shape, std::int64_t first, std::int64_t last,
                         std::int64_t queries);

/// Layout of the separate kernel that adds the parts of split keys.
struct PartSums {
  std::int64_t warps_of_row = 1;
  std::int64_t parts_at_once = 4096;  ///< parts of a row in flight
};

/// The blocks of one launch.
struct Blocks {
  Shape shape;
  Kernel kernel;
  Tile tile;
  std::int64_t width;            ///< padded head dim: elements of a row in a tile
  std::int64_t splits = 1;       ///< forward: parts of the keys, one block each
  bool writes_lse = false;       ///< forward: the log-sum-exp is kept for backward
  bool keys_stationary = false;  ///< the block keeps keys and streams queries; else the reverse
  std::int64_t packed = 1;       ///< query heads that share a block
  double dq_row_elements = 0;    ///< elements per row of dQ that a step adds to
  PartSums sums{};               ///< forward

  /// Matrix products per step. Forward: S and P·V. Backward, blocks of queries: S, dP and dQ;
  /// blocks of keys: S, dP, dV, dK, and dQ where blocks add to it.
  double products() const {
    if (!shape.backward) return 2;
    return !keys_stationary ? 3 : dq_row_elements > 0 ? 5 : 4;
  }
  std::int64_t rows_held() const { return keys_stationary ? tile.keys : tile.queries; }
  std::int64_t rows_passing() const { return keys_stationary ? tile.queries : tile.keys; }
  /// Bytes per row of the kept tile that a block writes at its end.
  double written() const;
  /// Bytes of all fp32 parts of O where keys are split, one scale factor a row included.
  double part_bytes() const { return as_double(splits * heads() * rows()) * written(); }
  /// Rows of the kept sequence; packed heads count as additional queries.
  std::int64_t rows() const { return keys_stationary ? shape.seq_kv : shape.seq_q * packed; }
  std::int64_t tiles() const { return ceil_div(rows(), rows_held()); }
  std::int64_t heads() const { return shape.batch * shape.heads / packed; }
  /// Bytes that L2 sends for a row of Q, K, V or dO. TMA: whole boxes, with the zeros beyond the
  /// head dim; cp.async: whole sectors.
  double copied_row_bytes() const;
  double passing_row_bytes() const {
    return 2 * shape.row_bytes() + (keys_stationary ? kRowNumbers : 0);
  }
};

/// The steps from which all blocks of a kernel are built. A masked step differs from `loop` in its
/// instructions alone.
struct BlockSteps {
  Step prologue;
  Phase loop;
  double masked_instructions;  ///< of a masked step; `loop` has those of an unmasked one
  Step epilogue;
  bool copies_masked = false;  ///< the code has a copy of each masked step (Tile::masked_copies)
};
/// Everything but the shared-memory wavefronts is counted.
BlockSteps block_steps(const Blocks& blocks);
/// Adds a class of `count` blocks with these steps; none if `count` is 0.
void add_class(Plan& plan, const BlockSteps& blocks, std::int64_t count, const Steps& steps);

/// The steps of each tile of a head, longest first unless Tile::in_order.
std::vector<Steps> steps_of_tiles(const Blocks& blocks);

/// Adds the tiles of `copies` heads, `together` heads at a time: first tiles, then second tiles,
/// and so on. Neighbouring tiles with equal steps form one class: at most 32, times 3 with splits.
void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& tiles,
                std::int64_t copies, std::int64_t together, std::int64_t splits = 1);

/// The launch without its arrays and block classes.
Plan plan_of(const Blocks& blocks);

/// Adds the block classes, and the raster that determines the L2 reuse of streamed rows.
void add_tiles(Plan& plan, const Blocks& blocks, const BlockSteps& steps);

// --- forward: blocks keep queries and stream K and V ---

/// K or V in forward: just computed in self-attention (seq_q = seq_kv), else from a cache.
ArrayUse kv_input(const Shape& shape, ArrayId array);

BlockSteps forward_steps(const Blocks& forward);
/// The launch without its block classes. A persistent launch has no more blocks than the GPU holds.
Plan forward_plan(const Blocks& forward, const Gpu& gpu);

/// Adds the block classes where the parts of the keys are whole units of `unit` keys.
void deal_keys(Plan& plan, const Blocks& forward, const BlockSteps& steps, std::int64_t unit);
/// Steps of the block of a head that ends last and also adds the parts.
BlockSteps with_merging(BlockSteps steps, const Blocks& forward);

/// cudaMemsetAsync of the tile counter (TileScheduler::queue), as a launch.
Plan cleared_counter();

/// The separate kernel that adds the parts of split keys.
Plan sum_of_parts(const Blocks& forward);

// --- backward: S is recomputed from Q, K and the log-sum-exp that forward kept ---

/// Layout of backward's scratch for each query: log-sum-exp and D, and a row of dQ in fp32.
struct QueryRows {
  std::int64_t rows;   ///< per head, padding included
  std::int64_t width;  ///< elements of a row of dQ in fp32
  std::int64_t lanes;  ///< threads that sum D of one row
  double waits = 1;    ///< dependent round trips to memory in a pass over rows or over a group
};

/// Five products: S = Q·Kᵀ and dP = dO·Vᵀ, which give P = e^(S - lse) and dS = P∘(dP - D), then dV
/// = Pᵀ·dO, dK = dSᵀ·Q and dQ = dS·K. A block of keys has only a part of each row of dQ. Either it
/// adds the part in memory, or blocks of queries recompute S and dP: seven products.
struct Backward {
  Shape shape;
  Kernel kernel;
  Tile keys;  ///< tile of the blocks of keys
  QueryRows rows;
  std::int64_t width;  ///< as in Blocks
  DqSum dq = kAtomic;
  Tile queries{};  ///< tile of the blocks of queries, where dQ has a separate pass
  /// Each block of keys belongs to one query head; separate launches sum dK and dV over a group.
  bool heads_apart = false;

  double all_rows() const { return as_double(shape.batch * shape.heads * rows.rows); }
  double dq_sum_bytes() const { return all_rows() * as_double(rows.width) * kSumElement; }
};

/// The launches: D (and zeros for dQ), blocks of keys, dQ, and the sums over groups.
LaunchSequence backward_launches(const Backward& backward);

/// dO, which an earlier kernel has just computed.
ArrayUse gradient_input(const Shape& shape);

/// A pass over `elements` elements, eight per thread, with `instructions` per thread and `waits`
/// dependent round trips to memory, which reads or writes each array once.
Plan pass_over(double elements, double instructions, std::vector<ArrayUse> arrays,
               double waits = 1);

}  // namespace roofcast::attention
