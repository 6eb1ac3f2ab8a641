#pragma once
// The product of a matrix and a vector, which a library computes without tiles (gemvx, gemv2T).
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/problem.hpp"

namespace roofcast::gemm {

/// One row of A or one column of B, of 32 bits or of rows that are no whole vectors, stored as it
/// is; and no tile of a matrix product is asked for.
bool is_vector_product(const Problem& p);

/// A block sums `tile_n` outputs of a row of C (`tile_m` of a column), each by several threads
/// along k.
LaunchSequence plan_vector_product(const Problem& p);
std::vector<Problem> vector_candidates(const Problem& p, const Gpu& gpu);

}  // namespace roofcast::gemm
