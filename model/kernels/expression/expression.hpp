#pragma once
// What an expression costs as one kernel, and as a chain of kernels.
#include <span>

#include "model/expression/chain.hpp"
#include "model/expression/expression.hpp"
#include "model/kernels/common/map.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::elementwise {

/// Arrays that a kernel generated from an expression may read.
inline constexpr std::size_t kMaxInputs = 8;

/// Position of the text among the parameters of elementwise.expr.
inline constexpr std::size_t kExpression = map::kParameters.size();

/// One kernel that computes the expression: an array read for each input, the arithmetic of each
/// node. An addition to a product used nowhere else is one fused multiply-add.
map::Operation operation_of(const expression::Expression& expression, DType dtype);

/// The launches of a chain. `bodies`: what each step is compiled
/// as, in order; empty: generated at run time.
LaunchSequence chain_plans(const expression::Chain& chain, std::span<const map::Body> bodies,
                           const Problem& problem);

/// The expression of a problem of elementwise.expr, numbers folded. Throws InputError where it
/// cannot be read, computes nothing or has more than kMaxInputs inputs.
expression::Expression expression_of(const Problem& problem);

/// y = any expression of named arrays.
extern const KernelFamily kExpr;

}  // namespace roofcast::elementwise
