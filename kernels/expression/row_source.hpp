#pragma once
// CUDA C++ for an expression along rows: a block a row, a sweep over it for each level of
// reductions.
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/expression/source.hpp"

namespace roofcast::cuda::expr {

/// The rows of a launch, as model/kernels/expression/row_plan.cpp has them.
struct Rows {
  std::int64_t cols = 1;
  std::int64_t threads = 32;     ///< of a block
  std::int64_t width = 1;        ///< elements of an access in `map_vectors`
  std::vector<bool> input_rows;  ///< of each input, whether it has one value a row
};

/// Kernels by the names of source() with the same arguments: `map_vectors` wants each address to be
/// a multiple of vector_bytes, `map_scalar` takes any. The grid has a block for each row; n is the
/// number of rows. An input or output of rows has one element a row.
std::string row_source(const expression::Expression& expression, const Configuration& configuration,
                       const Rows& rows);

}  // namespace roofcast::cuda::expr
