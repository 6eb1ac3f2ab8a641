#pragma once
// The cost of an expression as one kernel, and as a chain of kernels.
#include "model/expression/chain.hpp"
#include "model/kernels/common/map.hpp"

namespace roofcast::elementwise {

/// Arrays that a kernel generated from an expression may read, and write.
inline constexpr std::size_t kMaxInputs = 8, kMaxOutputs = 4;

/// Positions of the text and of the row's length among the parameters of elementwise.expr.
inline constexpr std::size_t kExpression = map::kParameters.size();
inline constexpr std::size_t kCols = kExpression + 1;

/// Cost per element of one node of a shared expression. A power of a constant exponent costs what
/// the generated code puts in its place; a reduction costs its part for each reduced element.
map::Cost cost_of(const expression::Expression& expression, const expression::Node& node,
                  DType dtype);

/// One kernel that computes a folded expression without reductions: an array read for each input,
/// one written for each output, the arithmetic of each node.
map::Operation operation_of(const expression::Expression& folded, DType dtype);

/// One sweep over a row: nodes of the shared expression that it computes for each element.
struct Sweep {
  int level = 0;  ///< nesting of the reductions that must be complete before the sweep
  std::vector<std::size_t> computes;  ///< nodes with a value per element, inputs included
  std::vector<std::size_t> reduces;   ///< reductions that it completes
  std::vector<std::size_t> writes;    ///< outputs with a value per element
};

/// The sweeps of a shared expression, in order. `input_rows`: inputs that have one value a row.
std::vector<Sweep> sweeps_of(const expression::Expression& shared,
                             const std::vector<bool>& input_rows);

/// Threads of a block: as in the problem, but no more warps than the vectors of a row fill.
std::int64_t row_threads(const Problem& problem);
/// Elements of one access of a thread: a vector, or 1 if a row is no whole number of vectors.
std::int64_t row_width(const Problem& problem);

/// The plan of one kernel with a block for each row, for a folded expression. Throws InputError for
/// an access narrower than an element and for threads that are no whole warps.
Plan plan_rows(const expression::Expression& folded, const std::vector<bool>& input_rows,
               const Problem& problem);

/// The launches of a chain. `kernels`: as map::Operation::kernel for each step, or empty.
LaunchSequence chain_plans(const expression::Chain& chain,
                           std::span<const std::string_view> kernels, const Problem& problem);

/// The expression of a problem, numbers folded. Throws InputError where no kernel computes it.
expression::Expression expression_of(const Problem& problem);

/// y = any expression of named arrays.
extern const KernelFamily kExpr;

}  // namespace roofcast::elementwise
