#pragma once
// What the kernels of backward do, a library's or this project's: P and dS are computed again from
// Q, K and the log-sum-exp that forward left, so nothing of the size of S is stored.
#include "model/kernels/attention/blocks.hpp"
#include "model/kernels/attention/flash.hpp"

namespace roofcast::attention {

/// What the counters of a run say of a kernel's steps; 0: counted by hand for any kernel of its
/// kind.
struct StepCounts {
  double instructions_a_score = 0;  ///< of a thread
  double instructions_a_row = 0;  ///< of a thread, before and after the steps, for a row that stays
  double addition_bytes = 0;      ///< of dQ, that a wavefront of L1 adds
  Waits waits{.barriers = 1};     ///< of a step, one after the other
};

/// Of five products what a warpgroup waits for with nothing behind: dQ. dP runs behind
/// exponentials, dV behind dS, dK behind a meeting and the next S behind additions to dQ. Of the
/// three of dQ's own pass it waits for two.
inline constexpr double kWaitsForDq = 1.0 / 5, kWaitsForTwo = 2.0 / 3;

/// A block holds a tile of one sequence with its sums, and the other passes in steps.
struct BackwardTile {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t warps;
  std::int64_t warps_across;  ///< of those, that share out columns: others have rows of their own
  std::int64_t stages;        ///< of each of the two matrices that pass
  std::int64_t registers;     ///< a thread
  std::int64_t shared_bytes;
  /// Heads of the tiles that are worked on together, so that what passes them stays in L2.
  std::int64_t together = 1;
  std::int64_t parts = 1;     ///< of a step, whose scores a block holds at a time
  std::int64_t dq_rows = 16;  ///< of dQ, that a warp of mma.sync adds up
  StepCounts counts{};
  double chains = 1, waited_products = 1;  ///< as of Phase
};

/// Of what backward keeps for each query: two numbers of its row, and sums of dQ in fp32.
struct RowLayout {
  std::int64_t rows;               ///< of a head, padding with them
  std::int64_t width;              ///< of a row of sums, elements
  std::int64_t lanes;              ///< threads that add up D of a row
  double dots_instructions = 40;   ///< of a thread for eight elements of O and dO
  double round_instructions = 16;  ///< the same of dQ
  std::int64_t dots_registers = 32, round_registers = 32;
  double waits = 1;        ///< dependent round trips to memory of a pass over rows
  double group_waits = 1;  ///< the same of the sums over a group
};

/// Five products: S = Q·Kᵀ and dP = dO·Vᵀ, of which P = e^(S - lse) and dS = P∘(dP - D) come, then
/// dV = Pᵀ·dO, dK = dSᵀ·Q and dQ = dS·K. Blocks of keys have no sums of dQ: they add their parts in
/// memory, or blocks of queries compute S and dP once more, which makes seven.
struct Backward {
  Shape shape;
  Kernel kernel;      ///< instructions_a_sum: of an element of dQ, to add it in memory
  BackwardTile keys;  ///< of blocks of keys
  RowLayout rows;
  DqSum dq = kAtomic;
  BackwardTile queries{};  ///< of blocks of queries, where dQ has a pass of its own
  /// A block of keys is of one query head; launches of their own add dK and dV over a group.
  bool heads_apart = false;
  std::optional<std::int64_t> width{};  ///< as of Forward

  double head() const;
  std::int64_t query_heads() const;
  std::int64_t key_heads() const;    ///< whose tiles of keys have blocks of their own
  std::int64_t key_tiles() const;    ///< of a head of K and V
  std::int64_t query_tiles() const;  ///< of a query head
  double row_number_bytes() const;   ///< the log-sum-exp and D
  double dq_sum_bytes() const;
  bool adds_over_groups() const;  ///< launches add dK and dV of the query heads of a group
  double head_kv_bytes() const;   ///< dK or dV of every query head
  /// Of a tile of keys: those of all query heads that share its block.
  Steps steps_of_keys(std::int64_t tile) const;
  Steps steps_of_queries(std::int64_t tile) const;  ///< of one query head
};

/// The launches: what comes before, the blocks of keys, dQ by either way, and the sums over groups.
LaunchSequence backward_program(const Backward& backward, DType type);

/// dO: what an earlier kernel has just computed.
ArrayUse gradient_input(const Shape& shape);

/// D = rowsum(dO∘O) and the log-sum-exp as blocks want it, of each query; zeros where blocks will
/// add to dQ.
Plan row_dots(const Backward& backward);

/// dQ from fp32 to the problem's type.
Plan round_dq(const Backward& backward);

/// dK or dV of a group from those of its query heads.
Plan sum_over_group(const Backward& backward, ArrayId of_heads, ArrayId result);

/// A pass over so many elements of 16 bits and what goes with them, eight a thread, with so many
/// instructions for each eight, and so many round trips to memory. All arrays of the plan are read
/// and written once.
Plan pass_over(double elements, double instructions, std::vector<ArrayUse> arrays,
               double waits = 1);

}  // namespace roofcast::attention
