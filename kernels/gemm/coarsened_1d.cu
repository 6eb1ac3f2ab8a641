// Rung 4: each thread computes thread_m elements of one column of C.
//
// A thread reads a word of B's tile once and uses it thread_m times from a register, so a product
// needs 1 + 1/thread_m words from shared memory in place of 2: with thread_m = 8, 9 words for 8
// multiply-adds. The words of A are the same for the whole warp, and a broadcast costs one access
// all the same. A block of the same threads covers a larger tile, so fewer words come from L2:
// m·n·k·(1/tile_n + 1/tile_m).
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/tile_load.cuh"

namespace roofcast::cuda::gemm {
namespace {

template <int kRows, int kColumns, int kDepth, int kThreadRows,
          int kThreads = kRows* kColumns / kThreadRows>
__global__ void __launch_bounds__(kThreads)
    coarsened_1d_kernel(int m, int n, int k, const float* __restrict__ a,
                        const float* __restrict__ b, float* __restrict__ c) {
  __shared__ float a_tile[kRows][kDepth];
  __shared__ float b_tile[kDepth][kColumns];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kRows;
  const int column0 = static_cast<int>(blockIdx.x) * kColumns;
  const int tr = thread / kColumns * kThreadRows, tc = thread % kColumns;

  float sum[kThreadRows] = {};
  for (int i0 = 0; i0 < k; i0 += kDepth) {
    load_tile<kRows, kDepth, kThreads>(a_tile, a, m, k, row0, i0, thread);
    load_tile<kDepth, kColumns, kThreads>(b_tile, b, k, n, i0, column0, thread);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kDepth; ++i) {
      const float b_value = b_tile[i][tc];
#pragma unroll
      for (int r = 0; r < kThreadRows; ++r) sum[r] += a_tile[tr + r][i] * b_value;
    }
    __syncthreads();
  }
  const int column = column0 + tc;
#pragma unroll
  for (int r = 0; r < kThreadRows; ++r) {
    const int row = row0 + tr + r;
    if (row < m && column < n) c[std::int64_t{row} * n + column] = sum[r];
  }
}

template <int kRows, int kColumns, int kDepth, int kThreadRows>
constexpr Compiled compiled() {
  constexpr Kernel kernel = coarsened_1d_kernel<kRows, kColumns, kDepth, kThreadRows>;
  return {configuration(kRows, kColumns, kDepth, kThreadRows), kernel, kernel,
          dim3(kRows * kColumns / kThreadRows), 0};
}

constexpr std::array kCompiled = {compiled<64, 64, 8, 8>(), compiled<32, 64, 8, 4>(),
                                  compiled<64, 64, 16, 16>(), compiled<128, 64, 8, 16>()};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.coarsened_1d", kThreadM + 1, Raster::columns_on_x, kCompiled};

}  // namespace

KernelEntry coarsened_1d() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
