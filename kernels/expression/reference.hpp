#pragma once
// What the result is held against.
#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "model/expression/expression.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cuda::expr {

/// Operands that may wait at once in reference().
inline constexpr int kMaxDepth = 32;

/// The largest number of operands that wait while the expression, a tree, is evaluated.
int depth(const expression::Expression& expression);

/// The tree in float64 by an interpreter on the device, one thread an element.
void reference(const expression::Expression& expression, DType dtype,
               std::span<const void* const> inputs, double* output, std::int64_t elements,
               cudaStream_t stream);

/// Some operation is defined for positive numbers only or has a pole at 0: then the inputs are
/// uniform between 1/16 and 15/16 in place of normal.
bool wants_positive(const expression::Expression& expression);

/// Uniform numbers between 1/16 and 15/16, each a function of (seed, index) alone.
void fill_positive(void* data, DType dtype, std::int64_t elements, std::uint64_t seed,
                   cudaStream_t stream);

/// Largest error to accept, relative to the largest result: a first-order error analysis (Higham,
/// Accuracy and Stability of Numerical Algorithms, 3.3) over random inputs.
/// `every_operation_rounds`: to the element type, as in the unfused chain.
double tolerance(const expression::Expression& expression, DType dtype,
                 bool every_operation_rounds);

}  // namespace roofcast::cuda::expr
