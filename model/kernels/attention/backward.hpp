#pragma once
// What the kernels of backward do, a library's or this project's: P and dS are computed again from
// Q, K and the log-sum-exp that forward left, so nothing of the size of S is stored.
#include "model/kernels/attention/blocks.hpp"

namespace roofcast::attention {

/// Of what backward keeps for each query: two numbers of its row, and sums of dQ in fp32.
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
