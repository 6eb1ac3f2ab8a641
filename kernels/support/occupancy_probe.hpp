#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roofcast::cuda {

/// One answer of cudaOccupancyMaxActiveBlocksPerMultiprocessor.
struct OccupancyCase {
  int registers;               ///< of a thread, as cudaFuncGetAttributes reports them
  std::size_t static_shared;   ///< bytes a block
  std::size_t dynamic_shared;  ///< bytes a block
  int threads;                 ///< of a block
  int blocks_per_sm;           ///< 0 where CUDA refuses the launch
};

/// Random cases: kernels of up to 27, 35, … 255 registers, blocks of 1 to 1024 threads (not only
/// whole warps), and shared memory from none to more than a block may have.
std::vector<OccupancyCase> probe_occupancy(int count, std::uint64_t seed);

}  // namespace roofcast::cuda
