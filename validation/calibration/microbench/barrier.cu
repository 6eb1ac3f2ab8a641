#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

constexpr unsigned kBarriers = 2048;

// With nothing between the barriers, the warps arrive together.
__global__ void meet(std::uint64_t* cycles) {
  __syncthreads();
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned i = 0; i < kBarriers; i += 16) {
#pragma unroll
    for (unsigned u = 0; u < 16; ++u) asm volatile("barrier.sync 0;" ::: "memory");
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
}

}  // namespace

Curves barrier(Lab& lab) {
  validation::Curve curve{"barrier", "__syncthreads", "warps_per_block", "clk", {}};
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    meet<<<lab.sms(), warps * 32, 0, lab.stream()>>>(lab.cycles());
    check(cudaGetLastError());
    curve.points.push_back({static_cast<double>(warps), lab.median_cycles(lab.sms()) / kBarriers});
  }
  return {std::move(curve)};
}

}  // namespace roofcast::microbench
