#pragma once
// The timed loop of the throughput microbenchmarks: eight independent chains of one operation a
// thread.
#include <cstdint>
#include <cstring>

#include "validation/calibration/microbench/device.cuh"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/operations.cuh"

namespace roofcast::microbench {

inline constexpr unsigned kMostThreads = 1024;
inline constexpr unsigned kRepeats = 32;  // of all chains, unrolled: loop overhead 1%

template <class Operation>
__global__ void __launch_bounds__(kMostThreads)
    run_chains(typename Operation::Type a, typename Operation::Type b, unsigned rounds,
               std::uint64_t* cycles, std::uint32_t* never) {
  typename Operation::Type x[kChains];
  for (unsigned c = 0; c < kChains; ++c) {
    x[c] = static_cast<typename Operation::Type>(threadIdx.x + c);
  }
  __syncthreads();
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
    for (unsigned i = 0; i < kRepeats; ++i) {
#pragma unroll
      for (unsigned c = 0; c < kChains; ++c) Operation::apply(x, c, a, b);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
  std::uint32_t all = 0;
  for (unsigned c = 0; c < kChains; ++c) {
    std::uint32_t bits;
    memcpy(&bits, &x[c], sizeof bits);
    all ^= bits;
  }
  if (all == 0x5eed5eed) *never += 1;  // keeps the chains alive
}

/// Enqueues a grid of one block of `threads` threads per SM.
template <class Operation>
void enqueue_chains(Lab& lab, unsigned threads, unsigned rounds) {
  using Type = typename Operation::Type;
  run_chains<Operation><<<lab.sms(), threads, 0, lab.stream()>>>(Type(1), Type(3), rounds,
                                                                 lab.cycles(), lab.found());
  check(cudaGetLastError());
}

/// Warp-wide operations per clock of one SM.
template <class Operation>
double operations_per_clk(Lab& lab, unsigned warps, unsigned rounds) {
  enqueue_chains<Operation>(lab, warps * 32, rounds);
  return double{1} * rounds * kRepeats * kChains * warps / lab.median_cycles(lab.sms());
}

}  // namespace roofcast::microbench
