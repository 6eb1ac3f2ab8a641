// Warp instructions per clock of one SM: the sustained rate of its schedulers.
#include "validation/calibration/microbench/chains.cuh"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

template <class Operation>
validation::Curve by_warps(Lab& lab, const char* series) {
  constexpr unsigned kRounds = 64;
  validation::Curve curve{"issue", series, "warps_per_sm", "instructions/clk", {}};
  for (const unsigned warps : {4u, 8u, 16u, 32u}) {
    curve.points.push_back(
        {static_cast<double>(warps), operations_per_clk<Operation>(lab, warps, kRounds)});
  }
  return curve;
}

constexpr unsigned kTile = 8;    // results of a thread along each axis
constexpr unsigned kDepth = 32;  // rows of the two tiles in shared memory
constexpr unsigned kRow = 128;   // floats of a row: 16 threads × 8

// Inner loop of a matrix product with register tiles: four 16 B loads and 64 FMAs per step.
__global__ void __launch_bounds__(256)
    multiply_tiles(unsigned rounds, std::uint64_t* cycles, float* never) {
  __shared__ __align__(16) float left[kDepth][kRow];
  __shared__ __align__(16) float right[kDepth][kRow];
  for (unsigned i = threadIdx.x; i < kDepth * kRow; i += blockDim.x) {
    left[i / kRow][i % kRow] = static_cast<float>(i % 7);
    right[i / kRow][i % kRow] = static_cast<float>(i % 5);
  }
  __syncthreads();
  const unsigned row = threadIdx.x / 16 % 16 * 4, column = threadIdx.x % 16 * 4;
  float sum[kTile][kTile] = {};
  const std::uint64_t start = cycle_count();
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    asm volatile("" ::: "memory");  // forces the tiles to be loaded again
#pragma unroll
    for (unsigned k = 0; k < kDepth; ++k) {
      float a[kTile], b[kTile];
      for (unsigned half = 0; half < 2; ++half) {
        const auto l = *reinterpret_cast<const float4*>(&left[k][row + 64 * half]);
        const auto r = *reinterpret_cast<const float4*>(&right[k][column + 64 * half]);
        a[4 * half] = l.x, a[4 * half + 1] = l.y, a[4 * half + 2] = l.z, a[4 * half + 3] = l.w;
        b[4 * half] = r.x, b[4 * half + 1] = r.y, b[4 * half + 2] = r.z, b[4 * half + 3] = r.w;
      }
#pragma unroll
      for (unsigned i = 0; i < kTile; ++i) {
#pragma unroll
        for (unsigned j = 0; j < kTile; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) cycles[blockIdx.x] = cycle_count() - start;
  float all = 0;
  for (auto& line : sum) {
    for (const float one : line) all += one;
  }
  if (all == -1.0f) *never = all;
}

validation::Curve register_tiles(Lab& lab) {
  validation::Curve curve{
      "issue", "register tile of a product", "warps_per_sm", "instructions/clk", {}};
  constexpr unsigned kTileRounds = 64;
  for (const unsigned warps : {4u, 8u}) {
    multiply_tiles<<<lab.sms(), warps * 32, 0, lab.stream()>>>(
        kTileRounds, lab.cycles(), reinterpret_cast<float*>(lab.found()));
    check(cudaGetLastError());
    const double instructions = double{kTileRounds} * kDepth * (kTile * kTile + 4) * warps;
    curve.points.push_back(
        {static_cast<double>(warps), instructions / lab.median_cycles(lab.sms())});
  }
  return curve;
}

}  // namespace

Curves issue(Lab& lab) {
  return {by_warps<FmaFp32>(lab, "fma"), by_warps<FmaAndAdd>(lab, "fma and int32 add"),
          register_tiles(lab)};
}

}  // namespace roofcast::microbench
