// Rung 5: each thread computes a thread_m × thread_n tile of C in registers.
//
// In step i a thread reads thread_m words of A and thread_n words of B and makes thread_m·thread_n
// products of them: 16 words for 64 multiply-adds with 8×8, where rung 4 needs 72. The arithmetic
// is now within reach of its peak. The 64 sums stay in registers: with 512 threads on an SM each
// has 128 registers, so the launch bound wants 512 threads in blocks. The rows and columns of a
// thread are not neighbours but strided over the tile (row = tr + i·16). Neighbouring threads then
// read neighbouring words of b_tile, without bank conflicts, and store neighbouring words of C.
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/tile_load.cuh"

namespace roofcast::cuda::gemm {
namespace {

template <int kRows, int kColumns, int kDepth, int kThreadRows, int kThreadColumns,
          int kThreads = kRows* kColumns / (kThreadRows * kThreadColumns)>
__global__ void __launch_bounds__(kThreads, 512 / kThreads)
    coarsened_2d_kernel(int m, int n, int k, const float* __restrict__ a,
                        const float* __restrict__ b, float* __restrict__ c) {
  constexpr int kAcross = kColumns / kThreadColumns, kDown = kRows / kThreadRows;
  // More steps at once hold more operands: with 64 sums they no longer fit in 128 registers.
  constexpr int kUnroll = kThreadRows * kThreadColumns >= 64 ? 2 : kDepth;
  __shared__ float a_tile[kRows][kDepth];
  __shared__ float b_tile[kDepth][kColumns];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kRows;
  const int column0 = static_cast<int>(blockIdx.x) * kColumns;
  const int tr = thread / kAcross, tc = thread % kAcross;

  float sum[kThreadRows][kThreadColumns] = {};
  for (int i0 = 0; i0 < k; i0 += kDepth) {
    load_tile<kRows, kDepth, kThreads>(a_tile, a, m, k, row0, i0, thread);
    load_tile<kDepth, kColumns, kThreads>(b_tile, b, k, n, i0, column0, thread);
    __syncthreads();
#pragma unroll kUnroll
    for (int i = 0; i < kDepth; ++i) {
      float a_value[kThreadRows], b_value[kThreadColumns];
#pragma unroll
      for (int r = 0; r < kThreadRows; ++r) a_value[r] = a_tile[tr + r * kDown][i];
#pragma unroll
      for (int q = 0; q < kThreadColumns; ++q) b_value[q] = b_tile[i][tc + q * kAcross];
#pragma unroll
      for (int r = 0; r < kThreadRows; ++r) {
#pragma unroll
        for (int q = 0; q < kThreadColumns; ++q) sum[r][q] += a_value[r] * b_value[q];
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int r = 0; r < kThreadRows; ++r) {
#pragma unroll
    for (int q = 0; q < kThreadColumns; ++q) {
      const int row = row0 + tr + r * kDown, column = column0 + tc + q * kAcross;
      if (row < m && column < n) c[std::int64_t{row} * n + column] = sum[r][q];
    }
  }
}

template <int kRows, int kColumns, int kDepth, int kThreadRows, int kThreadColumns>
constexpr Compiled compiled() {
  constexpr Kernel kernel =
      coarsened_2d_kernel<kRows, kColumns, kDepth, kThreadRows, kThreadColumns>;
  return {configuration(kRows, kColumns, kDepth, kThreadRows, kThreadColumns), kernel, kernel,
          dim3(kRows * kColumns / (kThreadRows * kThreadColumns)), 0};
}

constexpr std::array kCompiled = {compiled<128, 128, 8, 8, 8>(), compiled<64, 64, 8, 4, 4>(),
                                  compiled<128, 64, 8, 8, 4>()};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.coarsened_2d", kThreadN + 1, Raster::columns_on_x, kCompiled};

}  // namespace

KernelEntry coarsened_2d() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
