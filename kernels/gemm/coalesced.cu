// Rung 2: the same work, and threadIdx.x walks the columns of C.
//
// In step i the 32 threads of a warp read one word of A, the same for all (1 sector), and 32
// neighbouring words of B (4 sectors): 5 sectors, 160 bytes for 64 FLOP, where rung 1 moved 33
// sectors. The store to C is 4 sectors. Every product still needs two loads, so the load units set
// the pace, not the arithmetic.
#include "kernels/gemm/gemm.hpp"

namespace roofcast::cuda::gemm {
namespace {

template <int kTileRows, int kTileColumns, int kThreads = kTileRows* kTileColumns>
__global__ void __launch_bounds__(kThreads)
    coalesced_kernel(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                     float* __restrict__ c) {
  const int row = static_cast<int>(blockIdx.y) * kTileRows + static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kTileColumns + static_cast<int>(threadIdx.x);
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    sum += a[std::int64_t{row} * k + i] * b[std::int64_t{i} * n + column];
  }
  c[std::int64_t{row} * n + column] = sum;
}

template <int kTileRows, int kTileColumns>
constexpr Compiled compiled() {
  constexpr Kernel kernel = coalesced_kernel<kTileRows, kTileColumns>;
  return {configuration(kTileRows, kTileColumns), kernel, kernel, dim3(kTileColumns, kTileRows), 0};
}

constexpr std::array kCompiled = {compiled<32, 32>(), compiled<16, 16>(), compiled<8, 32>(),
                                  compiled<4, 64>()};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.coalesced", kTileN + 1, Raster::columns_on_x, kCompiled};

}  // namespace

KernelEntry coalesced() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
