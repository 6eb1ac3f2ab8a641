// Rung 6: every access 16 bytes wide, and no thread ever waits for L2.
//
// Rung 5 still spends a third of its instructions on loads, and stops at two barriers a tile while
// the next tile arrives. Here:
//
// 1. Copies that bypass the registers. cp.async moves 16 bytes from L2 to shared memory (.cg: no
//    line in L1), in the background. kStages tiles are in flight or in use: while the block
//    multiplies tile t, tiles t+1 … t+kStages-1 are on their way. One barrier a tile.
// 2. Shared memory read 16 bytes at a time. A stays as it is in memory, k along the row: a thread
//    reads A[row][i … i+3], four steps of one row. Of B it reads four neighbouring columns. For
//    four steps a thread of 16×8 elements issues 16 + 8 loads and 512 multiply-adds: 4.5 % of its
//    instructions are loads. (Transposing A on the way in would cost 4 stores for each load.)
// 3. Warps own tiles too: 4×8 threads, so that a warp reads 4·thread_m words of A and 8·thread_n
//    of B for each step, and lanes that need the same word share one access.
//    Rows of A's tile are padded by 4 words: the 4 rows a warp reads at once, (tile_k + 4)·4 bytes
//    apart, then lie in different banks. B's 8 × 16 bytes are all 32 banks.
// 4. 16×8 sums a thread: 128 registers of 255. 2 blocks of 128 threads share a multiprocessor; each
//    of its 4 schedulers has one warp of either, and one warp's barrier is the other's turn. The
//    multiply-adds of one warp do not depend on each other, so two warps suffice.
// 5. Blocks in groups of 8 tile rows. Blocks of a wave (264 on 132 multiprocessors) then cover
// about
//    8 × 33 tiles, not 1 row of C: they read (8 + 33) strips where row order reads far more of B.
//
// Words from L2: m·n·k·(1/tile_n + 1/tile_m), exactly, on whole tiles.
#include "kernels/gemm/async_copy.cuh"
#include "kernels/gemm/gemm.hpp"

namespace roofcast::cuda::gemm {
namespace {

constexpr int kLanesDown = 4, kLanesAcross = 8;  // the threads of a warp
constexpr int kGroupRows = 8;                    // tile rows of C that blocks visit together
constexpr int kVector = 4;                       // floats an access
constexpr int kPad = kVector;

template <int kRows_, int kColumns_, int kDepth_, int kThreadRows_, int kThreadColumns_,
          int kStages_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kThreadRows = kThreadRows_, kThreadColumns = kThreadColumns_;
  static constexpr int kStages = kStages_;
  static constexpr int kThreads = kRows * kColumns / (kThreadRows * kThreadColumns);
  // 65536 registers: 256 threads of 256, or 384 of 168 where 64 sums a thread leave room.
  static constexpr int kMinBlocks = (kThreadRows * kThreadColumns >= 128 ? 256 : 384) / kThreads;
  static constexpr int kWarpRows = kLanesDown * kThreadRows;
  static constexpr int kWarpColumns = kLanesAcross * kThreadColumns;
  static constexpr int kWarpsAcross = kColumns / kWarpColumns;
  static constexpr int kRowA = kDepth + kPad;  // floats between rows of A's tile
  static constexpr int kFloatsA = kRows * kRowA, kFloatsB = kDepth * kColumns;
  static constexpr int kSharedBytes = kStages * (kFloatsA + kFloatsB) * 4;
  static_assert(kRows % kWarpRows == 0 && kColumns % kWarpColumns == 0);
  static_assert(kThreads == 32 * (kRows / kWarpRows) * kWarpsAcross);
  static_assert(kDepth % kVector == 0 && kThreadColumns % kVector == 0);
};

/// Which tile of C a block computes: down 8 rows, then the next column.
struct Origin {
  int row, column;
};
template <class T>
__device__ Origin origin_of(int block, int m, int n) {
  const int tiles_down = (m + T::kRows - 1) / T::kRows;
  const int tiles_across = (n + T::kColumns - 1) / T::kColumns;
  const int group = block / (kGroupRows * tiles_across);
  const int in_group = block % (kGroupRows * tiles_across);
  const int height = min(kGroupRows, tiles_down - group * kGroupRows);
  return {(group * kGroupRows + in_group % height) * T::kRows, in_group / height * T::kColumns};
}

template <class T, bool kAligned>
__global__ __launch_bounds__(T::kThreads,
                             T::kMinBlocks) void vectorized_kernel(int m, int n, int k,
                                                                   const float* __restrict__ a,
                                                                   const float* __restrict__ b,
                                                                   float* __restrict__ c) {
  extern __shared__ __align__(16) float shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const Origin origin = origin_of<T>(static_cast<int>(blockIdx.x), m, n);
  const auto a_stage = [&](int s) { return shared + s * (T::kFloatsA + T::kFloatsB); };
  const auto b_stage = [&](int s) { return a_stage(s) + T::kFloatsA; };

  const TileCopy<T::kRows, T::kDepth, T::kRowA, T::kThreads, kAligned> copy_a(a, m, k, origin.row,
                                                                              0, thread);
  const TileCopy<T::kDepth, T::kColumns, T::kColumns, T::kThreads, kAligned> copy_b(
      b, k, n, 0, origin.column, thread);
  const int tiles = (k + T::kDepth - 1) / T::kDepth;
  const auto start_copy = [&](int t) {
    if (t < tiles) {
      copy_a.start(a_stage(t % T::kStages), 0, t * T::kDepth);
      copy_b.start(b_stage(t % T::kStages), t * T::kDepth, 0);
    }
    commit_copies();  // also when empty: the count of groups is the count of tiles
  };

  const int warp = thread / 32, lane = thread % 32;
  const int row = warp / T::kWarpsAcross * T::kWarpRows + lane / kLanesAcross;
  const int column = warp % T::kWarpsAcross * T::kWarpColumns + lane % kLanesAcross * kVector;

  float sum[T::kThreadRows][T::kThreadColumns] = {};
  for (int t = 0; t < T::kStages - 1; ++t) start_copy(t);
  for (int t = 0; t < tiles; ++t) {
    wait_for_copies<T::kStages - 2>();  // this thread's part of tile t has arrived
    __syncthreads();                    // everyone's has, and no one reads tile t-1 any more
    start_copy(t + T::kStages - 1);     // into the place of tile t-1
    const float* a_tile = a_stage(t % T::kStages) + row * T::kRowA;
    const float* b_tile = b_stage(t % T::kStages) + column;
#pragma unroll
    for (int i0 = 0; i0 < T::kDepth; i0 += kVector) {
      float4 b_values[kVector][T::kThreadColumns / kVector];
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
#pragma unroll
        for (int q = 0; q < T::kThreadColumns / kVector; ++q) {
          b_values[i][q] = *reinterpret_cast<const float4*>(b_tile + (i0 + i) * T::kColumns +
                                                            q * kLanesAcross * kVector);
        }
      }
#pragma unroll
      for (int r = 0; r < T::kThreadRows; ++r) {
        const float4 a_values =
            *reinterpret_cast<const float4*>(a_tile + r * kLanesDown * T::kRowA + i0);
        const float a_step[kVector] = {a_values.x, a_values.y, a_values.z, a_values.w};
#pragma unroll
        for (int i = 0; i < kVector; ++i) {
#pragma unroll
          for (int q = 0; q < T::kThreadColumns / kVector; ++q) {
            float* s = &sum[r][q * kVector];
            s[0] = fmaf(a_step[i], b_values[i][q].x, s[0]);
            s[1] = fmaf(a_step[i], b_values[i][q].y, s[1]);
            s[2] = fmaf(a_step[i], b_values[i][q].z, s[2]);
            s[3] = fmaf(a_step[i], b_values[i][q].w, s[3]);
          }
        }
      }
    }
  }

#pragma unroll
  for (int r = 0; r < T::kThreadRows; ++r) {
    const int to_row = origin.row + row + r * kLanesDown;
    if (to_row >= m) break;
    float* to = c + std::int64_t{to_row} * n;
#pragma unroll
    for (int q = 0; q < T::kThreadColumns / kVector; ++q) {
      const int to_column = origin.column + column + q * kLanesAcross * kVector;
      const float* s = &sum[r][q * kVector];
      if constexpr (kAligned) {  // n is a multiple of 4: all four columns, or none
        if (to_column < n) {
          *reinterpret_cast<float4*>(to + to_column) = make_float4(s[0], s[1], s[2], s[3]);
        }
      } else {
#pragma unroll
        for (int e = 0; e < kVector; ++e) {
          if (to_column + e < n) to[to_column + e] = s[e];
        }
      }
    }
  }
}

template <int kRows, int kColumns, int kDepth, int kThreadRows, int kThreadColumns, int kStages>
constexpr Compiled compiled() {
  using T = Tile<kRows, kColumns, kDepth, kThreadRows, kThreadColumns, kStages>;
  constexpr Kernel aligned = vectorized_kernel<T, true>;
  constexpr Kernel unaligned = vectorized_kernel<T, false>;
  return {configuration(kRows, kColumns, kDepth, kThreadRows, kThreadColumns), aligned, unaligned,
          dim3(T::kThreads), T::kSharedBytes};
}

constexpr std::array kCompiled = {
    compiled<128, 128, 16, 16, 8, 3>(), compiled<128, 128, 8, 16, 8, 4>(),
    compiled<256, 128, 16, 16, 8, 3>(), compiled<128, 256, 16, 16, 8, 3>(),
    compiled<128, 128, 32, 16, 8, 3>(), compiled<128, 128, 16, 8, 8, 3>(),
    compiled<64, 64, 16, 8, 8, 4>(),
};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.vectorized", kThreadN + 1, Raster::linear, kCompiled};

}  // namespace

KernelEntry vectorized() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
