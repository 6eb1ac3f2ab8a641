// Rung 1: one thread per element of C, with the threads of a warp along the wrong axis.
//
// threadIdx.x walks the rows of C. The 32 threads of a warp differ in threadIdx.x, so in step i
// they read A[row][i], A[row+1][i], ...: addresses k·4 bytes apart, 32 sectors of 32 bytes for 128
// bytes of use. All read the same word of B. A warp moves 32 + 1 sectors a step, 1056 bytes, for 64
// FLOP. L1 helps as long as a warp's 32 lines stay in it: the rest of A's sectors serves the next 7
// steps. The store to C is as bad: 32 sectors for 128 bytes.
#include "kernels/gemm/gemm.hpp"

namespace roofcast::cuda::gemm {
namespace {

template <int kTileRows, int kTileColumns, int kThreads = kTileRows* kTileColumns>
__global__ void __launch_bounds__(kThreads)
    naive_kernel(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                 float* __restrict__ c) {
  const int row = static_cast<int>(blockIdx.x) * kTileRows + static_cast<int>(threadIdx.x);
  const int column = static_cast<int>(blockIdx.y) * kTileColumns + static_cast<int>(threadIdx.y);
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += a[std::int64_t{row} * k + i] * b[std::int64_t{i} * n + column];
  }
  c[std::int64_t{row} * n + column] = sum;
}

template <int kTileRows, int kTileColumns>
constexpr Compiled compiled() {
  constexpr Kernel kernel = naive_kernel<kTileRows, kTileColumns>;
  return {configuration(kTileRows, kTileColumns), kernel, kernel, dim3(kTileRows, kTileColumns), 0};
}

constexpr std::array kCompiled = {compiled<32, 32>(), compiled<16, 16>(), compiled<32, 8>(),
                                  compiled<64, 4>()};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.naive", kTileN + 1, Raster::rows_on_x, kCompiled};

}  // namespace

KernelEntry naive() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
