#pragma once
// The float64 reference of an expression, its tolerance, and inputs for which it is defined.
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

/// Evaluates the expression in float64 by an interpreter on the device, with one thread a row, or
/// one an element where nothing is reduced. A row's sum is added one element after the other.
void reference(const expression::Expression& expression, DType dtype,
               std::span<const void* const> inputs, std::span<double* const> outputs,
               const Extent& extent, cudaStream_t stream);

/// Whether an operation may be undefined below 0 or have a pole at 0: inputs are then uniform
/// between 1/16 and 15/16 in place of normal.
bool wants_positive(const expression::Expression& expression);

/// Writes uniform numbers between 1/16 and 15/16, each a function of (seed, index) alone.
void fill_positive(void* data, DType dtype, std::int64_t elements, std::uint64_t seed,
                   cudaStream_t stream);

/// The largest error to accept, relative to the largest result, by a first-order error analysis
/// (Higham, Accuracy and Stability of Numerical Algorithms, 3.3) over random inputs.
/// `every_operation_rounds`: each rounds to the element type, as in the unfused chain. `output`:
/// position of the result. `cols`: elements of a row, where the expression reduces rows.
double tolerance(const expression::Expression& expression, DType dtype, bool every_operation_rounds,
                 std::size_t output = 0, std::int64_t cols = 0);

}  // namespace roofcast::cuda::expr
