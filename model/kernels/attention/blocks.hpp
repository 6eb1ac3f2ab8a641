#pragma once
// What blocks of attention kernels do, a library's or this project's: a tile of one sequence stays,
// the other sequence passes in steps.
#include <algorithm>
#include <cstdint>
#include <optional>
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
  kS,
  kP,
  kDP,
  kDropped,  ///< P after dropout
  kKept      ///< what dropout kept, a byte a score
};

/// Of its two products a warpgroup waits for S: P·V of the step before runs behind exponentials.
inline constexpr double kWaitsForScores = 1.0 / 2;
inline constexpr double kSumElement = 4;  ///< bytes of an fp32 sum

/// K or V as forward reads it: of self-attention it was just computed, else it is a cache.
ArrayUse kv_input(const Shape& shape, ArrayId array);
/// Q, K and V of forward.
std::vector<ArrayUse> forward_inputs(const Shape& shape);

/// Of a block: queries it holds, keys of a step, its warps and how it runs them.
struct Tile {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t warps;
  std::int64_t rows_per_warp;  ///< that share an operand which a warp has read from shared memory
  std::int64_t stages;         ///< of K and of V
  std::int64_t blocks_per_sm;  ///< that its registers leave room for
  /// Where threads multiply, of each for an element of K and of V; 0: tensor cores do.
  double vector_instructions = 0;
  double dependent_loads = 0;  ///< one after the other before the first tile: lengths, pages
  /// Its warpgroups hold tiles of their own: one starts while another works.
  bool alternates = false;
  double waits_before = 0;   ///< dependent operations beside those loads
  double waits_of_step = 0;  ///< the same of a step
  bool deals_keys = false;   ///< to its warps; K and V have one place in turn
  bool merges = false;       ///< the last block adds the parts of split keys; else a launch does
  double chains = 1, waited_products = 1;  ///< as of Phase
  TileScheduler scheduler = TileScheduler::hardware;
  bool in_order = false;  ///< tiles of a head from the first on; else the longest first

  bool products() const { return vector_instructions == 0; }  ///< on tensor cores
};

/// How a kernel goes about it.
struct Kernel {
  Instruction product;  ///< matrix instruction; all but mma_sync read shared memory themselves
  double instructions_a_score =
      0;  ///< of a thread for one score: scale, maximum, exponential, sum …
  double instructions_a_sum =
      0;  ///< of a thread for one element of the sums in each step: rescaling
  double instructions_a_mask = 0;  ///< more of a thread for one score where a causal mask cuts
  double instructions_a_result =
      0;  ///< of a thread for an element of O, or of dK and dV, at the end

  bool wide() const { return product != Instruction::mma_sync; }
  /// Warpgroups of so many warps that multiply, each for itself, beside one that copies; none for
  /// mma.sync.
  double warpgroups(std::int64_t warps) const {
    constexpr std::int64_t kWarpsOfGroup = 4;
    return wide() ? static_cast<double>(std::max<std::int64_t>(1, warps / kWarpsOfGroup - 1)) : 0;
  }
  /// Of this project's kernels: how operands reach shared memory.
  Instruction copy() const { return wide() ? Instruction::bulk_copy : Instruction::cp_async; }
};

/// Of each lane for a FLOP of mma.sync: m16n8k16 does 4096, and an ldmatrix brings operands of
/// four.
inline constexpr double kInstructionsAFlop = 32.0 / 4096 * (1 + 1.0 / 4);

/// Steps of a block: without a mask, and with one. Means, where blocks that differ count as equal.
struct Steps {
  double full = 0;
  double masked = 0;
  /// Of what so many whole steps would read, what is there.
  double full_share = 1;
  double masked_share = 1;

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

/// Rows that a block takes of an extent, on average over the blocks: whole tiles of `tile` rows,
/// but for what the last one lacks.
double mean_rows(const std::vector<Steps>& blocks, std::int64_t tile, std::int64_t extent);

/// What blocks of one kernel do, whatever the number of steps.
struct BlockSteps {
  Step prologue;
  Step full;
  Step masked;
  Step epilogue;
  double ahead;                                        ///< as of Phase
  double groups = 0, chains = 1, waited_products = 1;  ///< as of Phase
};
BlockClass block_class(const BlockSteps& blocks, std::int64_t count, const Steps& steps);

/// Bytes that L2 sends for a row of Q, K, V or dO, of which a tile has `padded` elements. TMA
/// counts whole boxes, the zeros beyond the head and beyond the last row with the rest, and a
/// sector more for each line of a row that does not begin at a sector. Of cp.async two neighbouring
/// lanes ask together: for a sector, or where their row does not begin at one for two.
double copied_row_bytes(const Shape& shape, double padded, bool by_boxes);

/// How the parts of split keys are added.
struct PartSums {
  std::int64_t warps_of_row = 1;
  std::optional<std::int64_t> parts_at_once{};  ///< of a row, on their way; absent: all
  std::int64_t shared_bytes = 0;                ///< of a block, where a row has several warps
};
/// Blocks of queries that K and V pass.
struct Forward {
  Shape shape;
  Kernel kernel;
  Tile tile;
  std::int64_t packed = 1;  ///< query heads whose queries fill a tile together
  std::int64_t splits = 1;  ///< of the keys, each a block's
  bool writes_lse = false;
  /// Elements that a row of a tile has room for; absent: as this project's kernels pad a head.
  std::optional<std::int64_t> width{};
  PartSums sums{};

  double head() const;
  bool by_boxes() const;  ///< copies rows by TMA
  double copied_row() const { return copied_row_bytes(shape, head(), by_boxes()); }
  std::int64_t rows() const { return shape.seq_q * packed; }
  std::int64_t tiles() const;  ///< of the heads packed
  std::int64_t copies() const { return shape.batch * shape.heads / packed; }
  std::int64_t blocks() const { return tiles() * copies() * splits; }
  /// Of a tile, on average: rows beyond the last are neither read nor written.
  double full_rows() const;
  /// Sums of parts, each with what scales it; 0 where keys are not split.
  double part_bytes() const;
  /// Sums of a block, and its shared memory.
  double on_chip_bytes(std::int64_t shared_bytes) const;
  /// Of a block, before its keys are split.
  Steps steps(std::int64_t tile) const;
};
BlockSteps forward_blocks(const Forward& forward, DType type);

/// cudaMemsetAsync of the counter from which blocks that stay take tiles: a launch of its own.
Plan cleared_counter();

Plan sum_of_parts(const Forward& forward);

/// The order in which blocks run: `copies` of all tiles (heads), as many copies together as stay in
/// L2, of those the longest blocks first.
struct Order {
  std::int64_t copies;
  std::int64_t together;
};
/// Adds the blocks to the plan: equal neighbours are one class, and there are at most 32 classes,
/// of neighbours' means where there would be more.
void add_blocks(Plan& plan, const BlockSteps& blocks, const std::vector<Steps>& longest_first,
                const Order& order, std::int64_t splits = 1);

}  // namespace roofcast::attention
