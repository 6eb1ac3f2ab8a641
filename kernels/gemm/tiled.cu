// Rung 3: shared memory.
//
// The threads of a block read the same rows of A and columns of B many times over. Here the block
// first copies a tile_m × tile_k tile of A and a tile_k × tile_n tile of B into shared memory, each
// word once, then multiplies from there. A block reads k·(tile_m + tile_n) words from L2, and all
// blocks m·n·k·(1/tile_n + 1/tile_m): with 32×32 tiles 1/32 of the 2·m·n·k words that rung 2 loads.
// Every product still reads two words, now from shared memory: two loads for one multiply-add, on a
// pipe that serves one warp a clock where the arithmetic serves four.
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/tile_load.cuh"

namespace roofcast::cuda::gemm {
namespace {

template <int kRows, int kColumns, int kDepth, int kThreads = kRows* kColumns>
__global__ void __launch_bounds__(kThreads)
    tiled_kernel(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                 float* __restrict__ c) {
  __shared__ float a_tile[kRows][kDepth];
  __shared__ float b_tile[kDepth][kColumns];
  const int thread = static_cast<int>(threadIdx.x);
  const int row0 = static_cast<int>(blockIdx.y) * kRows;
  const int column0 = static_cast<int>(blockIdx.x) * kColumns;
  const int tr = thread / kColumns, tc = thread % kColumns;

  float sum = 0;
  for (int i0 = 0; i0 < k; i0 += kDepth) {
    load_tile<kRows, kDepth, kThreads>(a_tile, a, m, k, row0, i0, thread);
    load_tile<kDepth, kColumns, kThreads>(b_tile, b, k, n, i0, column0, thread);
    __syncthreads();  // the tiles are complete
    // In a warp tr is one value (a broadcast) and tc covers 32 banks: no conflict.
#pragma unroll
    for (int i = 0; i < kDepth; ++i) sum += a_tile[tr][i] * b_tile[i][tc];
    __syncthreads();  // everyone has read them
  }
  const int row = row0 + tr, column = column0 + tc;
  if (row < m && column < n) c[std::int64_t{row} * n + column] = sum;
}

template <int kRows, int kColumns, int kDepth>
constexpr Compiled compiled() {
  constexpr Kernel kernel = tiled_kernel<kRows, kColumns, kDepth>;
  return {configuration(kRows, kColumns, kDepth), kernel, kernel, dim3(kRows * kColumns), 0};
}

constexpr std::array kCompiled = {compiled<32, 32, 32>(), compiled<16, 16, 16>(),
                                  compiled<32, 32, 16>(), compiled<16, 32, 32>()};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.tiled", kTileK + 1, Raster::columns_on_x, kCompiled};

}  // namespace

KernelEntry tiled() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
