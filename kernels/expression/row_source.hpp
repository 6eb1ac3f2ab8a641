#pragma once
// CUDA C++ for an expression along rows: each block has a row and sweeps over it once for each
// level of reductions, and once more for outputs with a value an element.
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/expression/source.hpp"

namespace roofcast::cuda::expr {

/// The rows of a launch, as model/kernels/expression/row_plan.cpp has them.
struct Rows {
  std::int64_t cols = 1;
  std::int64_t threads = 32;     ///< threads of a block
  std::int64_t width = 1;        ///< elements of an access in `map_vectors`
  std::vector<bool> input_rows;  ///< for each input, whether it has one value a row
};

/// The source of kernels with the names and arguments of those of source(): `map_vectors` needs
/// each address to be a multiple of vector_bytes, `map_scalar` takes any. The grid has a block for
/// each row; n is the number of rows. An input or output with one value a row has one element a
/// row.
std::string row_source(const expression::Expression& expression, const Configuration& configuration,
                       const Rows& rows);

}  // namespace roofcast::cuda::expr
