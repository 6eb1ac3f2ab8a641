#pragma once
// What the result is held against.
#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "model/expression/expression.hpp"
#include "model/types/dtype.hpp"

namespace roofcast::cuda::expr {

struct Extent {
  std::int64_t elements = 0;
  std::int64_t cols = 0;  ///< elements of a row; 0: nothing is reduced
};

/// The expression in float64 by an interpreter on the device, one thread a row, or an element where
/// nothing is reduced. A sum of float64 numbers one after the other.
void reference(const expression::Expression& expression, DType dtype,
               std::span<const void* const> inputs, std::span<double* const> outputs,
               const Extent& extent, cudaStream_t stream);

/// Some operation is defined for positive numbers only or has a pole at 0: then the inputs are
/// uniform between 1/16 and 15/16 in place of normal.
bool wants_positive(const expression::Expression& expression);

/// Uniform numbers between 1/16 and 15/16, each a function of (seed, index) alone.
void fill_positive(void* data, DType dtype, std::int64_t elements, std::uint64_t seed,
                   cudaStream_t stream);

/// Largest error to accept, relative to the largest result: a first-order error analysis (Higham,
/// Accuracy and Stability of Numerical Algorithms, 3.3) over random inputs.
/// `every_operation_rounds`: to the element type, as in the unfused chain. `output`: which of the
/// results. Rows have `cols` elements where the expression reduces them.
double tolerance(const expression::Expression& expression, DType dtype, bool every_operation_rounds,
                 std::size_t output = 0, std::int64_t cols = 0);

}  // namespace roofcast::cuda::expr
