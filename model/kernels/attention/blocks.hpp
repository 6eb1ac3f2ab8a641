#pragma once
// Attention kernels, a library's or this project's: blocks in which a tile of one sequence stays
// and two matrices of the other sequence pass in steps, and the launches of forward and backward.
#include <cstdint>
#include <vector>

#include "model/kernels/attention/flash.hpp"
#include "model/types/plan.hpp"

namespace roofcast::attention {

/// Arrays of a program: the inputs, the outputs, and what launches hand on.
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
  kHeadDK,  ///< of each query head, where blocks of keys are of one
  kHeadDV,
  kRowDots,  ///< D = rowsum(dO∘O), fp32
  kDqSums,   ///< dQ in fp32, to which blocks add
  kParts,    ///< of split keys
  kQkv,      ///< as one product leaves them
  kNewKv,    ///< rows that a cache takes beside older ones
  kS,
  kP,
  kDP,
  kDropped,  ///< P after dropout
  kKept      ///< what dropout kept, a byte a score
};

inline constexpr double kSumElement = 4;  ///< bytes of an fp32 sum

/// The share of a step's products that a warpgroup waits for with nothing behind. Forward: S alone,
/// P·V of the step before runs behind exponentials. Blocks of keys: dQ alone, dP runs behind
/// exponentials, dV behind dS, dK behind a barrier, the next S behind additions to dQ.
inline constexpr double kWaitsForScores = 1.0 / 2, kWaitsForDq = 1.0 / 5;

/// The instruction that a kernel multiplies with, and what its threads issue beside.
struct Kernel {
  Instruction product;              ///< all but mma_sync read shared memory themselves
  double instructions_a_score = 0;  ///< of a thread: scale, maximum, exponential, sum …
  double instructions_a_sum = 0;    ///< of an element of the sums that a step rescales or adds to
  double instructions_a_mask = 0;   ///< more for a score where a causal mask cuts
  /// Instructions for an element of K and of V where threads multiply; 0: tensor cores do.
  double vector_instructions = 0;
  bool by_rows = false;  ///< a wide product's operands come by cp.async, no row beyond the last

  bool on_tensor_cores() const { return vector_instructions == 0; }
  bool wide() const { return product != Instruction::mma_sync; }
  /// How operands reach shared memory.
  Instruction copy() const { return by_boxes() ? Instruction::bulk_copy : Instruction::cp_async; }
  bool by_boxes() const { return wide() && !by_rows; }
};

/// Data that a block holds, and how its warps share it.
struct Tile {
  std::int64_t queries, keys;  ///< of the tile that stays, and of a step
  std::int64_t warps;
  std::int64_t stages;         ///< of each of the two matrices that pass
  std::int64_t blocks_per_sm;  ///< that its registers leave room for
  std::int64_t registers = 0;  ///< a thread
  std::int64_t shared_bytes = 0;
  /// Heads whose tiles run together, so that what passes them stays in L2.
  std::int64_t together = 1;
  double step_instructions = 0;   ///< of warps, as compiled, a mask with them; 0: as Kernel says
  double block_instructions = 0;  ///< of warps, beside the steps
  double addition_bytes = 0;      ///< of dQ, that a wavefront of L1 adds; 0: not known
  Waits waits{.tile_loads = 1, .barriers = 1};         ///< of a step
  Waits waits_before{.tile_loads = 1, .barriers = 1};  ///< of the first step
  double chains = 1, waited_products = 1;              ///< as of Phase
  TileScheduler scheduler = TileScheduler::hardware;
  bool deals_keys = false;  ///< each warp has keys of its own; K and V take turns in one place
  bool merges = false;      ///< the last block adds the parts of split keys; else a launch does
  bool in_order = false;    ///< tiles of a head from the first on; else the longest first
  std::int64_t warps_across = 1;  ///< of backward, that share out columns: others have own rows
  std::int64_t parts = 1;         ///< of a step, whose scores a block of backward holds at a time
  std::int64_t dq_rows = 16;      ///< of dQ, that a warp of mma.sync adds up
};

/// Warpgroups that multiply beside one that copies.
constexpr std::int64_t multiplying_groups(std::int64_t warps) {
  return warps / 4 > 2 ? warps / 4 - 1 : 1;
}

/// Steps of a block: without a mask, and with one. Means, where blocks that differ count as equal.
struct Steps {
  double full = 0;
  double masked = 0;
  double share = 1;  ///< of what whole steps read: a part of the keys may end within one

  double all() const { return full + masked; }
  friend bool operator==(const Steps&, const Steps&) = default;
};

/// Of the queries from `first` to `last`, whose keys pass in tiles: none that no query sees, and
/// masked where not all queries see all of the tile. A tile beyond the last key is cut too.
Steps steps_over_keys(const Shape& shape, std::int64_t first, std::int64_t last, std::int64_t keys);

/// Of the keys from `first` to `last`, whose queries pass in tiles. Queries beyond the last need no
/// mask: their log-sum-exp makes P zero.
Steps steps_over_queries(const Shape& shape, std::int64_t first, std::int64_t last,
                         std::int64_t queries);

/// The blocks of one launch.
struct Blocks {
  Shape shape;
  Kernel kernel;
  Tile tile;
  std::int64_t width;       ///< elements that a row of a tile has room for
  bool keys_stay = false;   ///< else queries
  std::int64_t packed = 1;  ///< query heads that share a block
  double products = 2;      ///< of a step
  double held = 1;          ///< matrices that stay
  double numbers = 0;       ///< bytes of a query beside its matrices
  double written = 0;       ///< bytes of a row that stays, at the end
  double added = 0;         ///< elements of a row of dQ, to which steps add

  std::int64_t rows_held() const { return keys_stay ? tile.keys : tile.queries; }
  std::int64_t rows_passing() const { return keys_stay ? tile.queries : tile.keys; }
  /// Rows of the sequence that stays: of the heads packed.
  std::int64_t rows() const { return keys_stay ? shape.seq_kv : shape.seq_q * packed; }
  std::int64_t tiles() const { return ceil_div(rows(), rows_held()); }
  std::int64_t heads() const { return shape.batch * shape.heads / packed; }
  /// Bytes that L2 sends for a row of Q, K, V or dO: whole boxes of TMA with the zeros beyond the
  /// head, or the sectors of cp.async.
  double copied_row_bytes() const;
  double passing_row_bytes() const { return 2 * shape.row_bytes() + (keys_stay ? numbers : 0); }
};

/// What blocks of one kernel do, whatever the number of steps.
struct BlockSteps {
  Step prologue;
  Step full;
  Step masked;
  Step epilogue;
  double ahead;                                        ///< as of Phase
  double groups = 0, chains = 1, waited_products = 1;  ///< as of Phase
};
/// All but the wavefronts of shared memory.
BlockSteps block_steps(const Blocks& blocks, DType type);
BlockClass block_class(const BlockSteps& blocks, std::int64_t count, const Steps& steps);

/// The steps of each tile of a head, longest first unless tiles go in order.
std::vector<Steps> steps_of_tiles(const Blocks& blocks);

/// Adds the tiles of `copies` heads: of `together` heads at a time the first tiles, then the next
/// ones. Neighbouring tiles with as many steps are a class. There are at most 32 classes: where
/// there would be more, neighbours count as their mean.
void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& tiles,
                std::int64_t copies, std::int64_t together, std::int64_t splits = 1);

/// A launch without its arrays and classes of blocks.
Plan launch_plan(const Blocks& blocks, std::int64_t splits, DType type);

/// Adds the blocks in the order of their tiles, which says what of the passing rows L2 keeps.
void add_tiles(Plan& plan, const Blocks& blocks, const BlockSteps& steps);

// --- forward: blocks of queries that K and V pass ---

/// How a launch adds the parts of split keys.
struct PartSums {
  std::int64_t warps_of_row = 1;
  std::int64_t parts_at_once = 4096;  ///< of a row, on their way
  std::int64_t shared_bytes = 0;      ///< of a block, where a row has several warps
};

struct Forward : Blocks {
  std::int64_t splits = 1;  ///< of the keys, each a block's
  bool writes_lse = false;
  PartSums sums{};

  /// With what they write.
  Blocks blocks() const;
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
/// Steps of the last block of a head to end, which adds the parts.
BlockSteps with_merging(BlockSteps steps, const Forward& forward);

/// cudaMemsetAsync of the counter from which blocks that stay take tiles: a launch of its own.
Plan cleared_counter();

Plan sum_of_parts(const Forward& forward);

// --- backward: S is computed again, from Q, K and the log-sum-exp that forward left ---

/// Layout of what backward keeps for each query: two numbers of its row, and dQ's sums in fp32.
struct RowLayout {
  std::int64_t rows;       ///< of a head, padding with them
  std::int64_t width;      ///< of a row of sums, elements
  std::int64_t lanes;      ///< threads that add up D of a row
  double waits = 1;        ///< dependent round trips to memory of a pass over rows
  double group_waits = 1;  ///< the same of the sums over a group
};

/// Five products: S = Q·Kᵀ and dP = dO·Vᵀ, of which P = e^(S - lse) and dS = P∘(dP - D) come, then
/// dV = Pᵀ·dO, dK = dSᵀ·Q and dQ = dS·K. Blocks of keys have no sums of dQ: they add their parts in
/// memory, or blocks of queries compute S and dP once more, which makes seven.
struct Backward {
  Shape shape;
  Kernel kernel;
  Tile keys;  ///< of blocks of keys
  RowLayout rows;
  std::int64_t width;  ///< as of Blocks
  DqSum dq = kAtomic;
  Tile queries{};  ///< of blocks of queries, where dQ has a pass of its own
  /// A block of keys is of one query head; launches of their own add dK and dV over a group.
  bool heads_apart = false;

  double all_rows() const { return as_double(shape.batch * shape.heads * rows.rows); }
  double dq_sum_bytes() const { return all_rows() * as_double(rows.width) * kSumElement; }
};

/// The launches: what comes before, the blocks of keys, dQ by either way, and the sums over groups.
LaunchSequence backward_program(const Backward& backward, DType type);

/// dO: what an earlier kernel has just computed.
ArrayUse gradient_input(const Shape& shape);

/// A pass over so many elements of 16 bits and what goes with them, eight a thread, with so many
/// instructions for each eight, and so many round trips to memory. All arrays of the plan are read
/// and written once.
Plan pass_over(double elements, double instructions, std::vector<ArrayUse> arrays,
               double waits = 1);

}  // namespace roofcast::attention
