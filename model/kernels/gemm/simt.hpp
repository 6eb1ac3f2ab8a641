#pragma once
// The plans of the matrix product on the SIMT pipes in fp32, from naive to vectorized.
#include <cstdint>
#include <string_view>

#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::gemm {

/// One thread an output element, operands straight from global memory. `rows_first`: neighbouring
/// threads take neighbouring rows, so a warp's loads of A and stores of C touch a line each.
LaunchSequence plan_direct(const Problem& problem, bool rows_first);

/// How a kernel works on tiles in shared memory.
struct Staging {
  std::string_view kernel;
  std::size_t parameters;   ///< that it takes from the problem; tiles of threads are 1 wide else
  std::int64_t width = 1;   ///< elements of one access to global memory, and to B's tile
  std::int64_t stages = 1;  ///< tiles in shared memory: with more than one, loads run ahead
  std::int64_t group_rows = 1;  ///< tile rows that blocks visit together
  std::int64_t pad_a = 0;       ///< elements between the columns of A's tile, which is transposed
};
LaunchSequence plan_staged(const Problem& problem, const Staging& staging);

}  // namespace roofcast::gemm
