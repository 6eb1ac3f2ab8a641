#pragma once
// One kernel with reductions along rows: a block takes a row and sweeps over it once for each level
// of reductions, and once more for the outputs that have a value an element.
#include <vector>

#include "model/expression/expression.hpp"
#include "model/types/plan.hpp"
#include "model/types/problem.hpp"

namespace roofcast::elementwise {

/// What one sweep over a row does: nodes of the shared expression that it computes for each
/// element.
struct Sweep {
  int level = 0;  ///< reductions that stand below those that it ends, one above the other
  std::vector<std::size_t> computes;  ///< of one value an element, inputs among them
  std::vector<std::size_t> reduces;   ///< reductions that it ends
  std::vector<std::size_t> writes;    ///< outputs of one value an element
};

/// The sweeps of a shared expression. `input_rows`: of each input, whether it has one value a row.
std::vector<Sweep> sweeps_of(const expression::Expression& shared,
                             const std::vector<bool>& input_rows);

/// Threads of a block: those of the problem, as far as a row has vectors for them.
std::int64_t row_threads(const Problem& problem);
/// Elements of one access of a thread: one where a row is no whole number of vectors.
std::int64_t row_width(const Problem& problem);

/// The launch. Throws InputError for an access narrower than an element and for threads that are no
/// whole warps.
Plan plan_rows(const expression::Expression& expression, const std::vector<bool>& input_rows,
               const Problem& problem);

}  // namespace roofcast::elementwise
