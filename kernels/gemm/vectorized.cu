// Rung 6: every access has 16 bytes, and no thread waits for L2 or for shared memory.
//
// A third of rung 5's instructions are not multiply-adds, and two barriers a tile wait for the next
// tile. Here:
//
// 1. Shared memory is read 16 bytes at a time. A step needs a column of A's tile and a row of B's,
//    so A's tile is stored transposed and a read takes four neighbouring words of either. A thread
//    of 16×8 sums issues 4 + 2 reads for 128 multiply-adds: 4.5 % of its instructions.
// 2. Later tiles are copied while this one is used. cp.async copies B kStages - 1 tiles ahead,
//    bypassing the registers and (.cg) L1. A must be transposed, so it passes through registers:
//    loaded when the previous tile begins, stored to shared memory when the previous tile ends.
//    Transposing by cp.async, 4 bytes at a time, takes four times the instructions: 3 % slower.
// 3. The operands of a step are read from shared memory during the previous step, across the
//    barrier too: at the last step of a tile the block synchronizes, then reads the first words of
//    the next tile while it multiplies the last of this one. So a tile has one barrier, with
//    arithmetic behind it.
// 4. A warp of 4×8 threads owns a tile: it reads 4·thread_m words of A and 8·thread_n of B a step,
//    and lanes that need the same words share one access. The order of lanes in the tile is that of
//    maxas (Scott Gray, 2014), worth 2 %.
// 5. A thread has 16×8 sums, 128 of its 255 registers, so an SM holds 256 threads, two warps per
//    scheduler. Two suffice, since the 128 multiply-adds of a step are independent. 8×8 sums and
//    three warps are slower: 4 reads for 64 multiply-adds.
// 6. Blocks go in groups of 8 tile rows. The blocks of a wave cover a patch of C, not a strip one
//    tile high, so they share more rows of A and columns of B.
//
// Words from L2: m·n·k·(1/tile_n + 1/tile_m), exactly, on whole tiles.
// On an H200 at 4096 (TFLOP/s; cuBLAS 51.1): rung 5 30.9, this one 49.6 with tiles of 128×256, 48.1
// with 128×128. Tiles of 64×64 win where large tiles are fewer than the SMs or fill their last wave
// badly: at 1024 34.4 (cuBLAS 31.3), at 3000 44.4 (44.0), where 128×256 reach 35.3.
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/tile_copy.cuh"

namespace roofcast::cuda::gemm {
namespace {

constexpr int kLanesDown = 4, kLanesAcross = 8;  // the threads of a warp
constexpr int kGroupRows = 8;                    // tile rows of C that blocks visit together

template <int kRows_, int kColumns_, int kDepth_, int kThreadRows_, int kThreadColumns_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kThreadRows = kThreadRows_, kThreadColumns = kThreadColumns_;
  static constexpr int kStages = 3;
  static constexpr int kThreads = kRows * kColumns / (kThreadRows * kThreadColumns);
  // 65536 registers: 256 threads of 256, or 384 of 168 where 64 sums a thread leave room.
  static constexpr int kMinBlocks = (kThreadRows * kThreadColumns >= 128 ? 256 : 384) / kThreads;
  static constexpr int kWarpRows = kLanesDown * kThreadRows;
  static constexpr int kWarpColumns = kLanesAcross * kThreadColumns;
  static constexpr int kWarpsAcross = kColumns / kWarpColumns;
  static constexpr int kStrideA = kRows + 4;  // of A's transposed tile: see TransposingCopy
  static constexpr int kFloatsA = kDepth * kStrideA, kFloatsB = kDepth * kColumns;
  static constexpr int kStageFloats = kFloatsA + kFloatsB;
  static constexpr int kSharedBytes = kStages * kStageFloats * 4;
  static_assert(kRows % kWarpRows == 0 && kColumns % kWarpColumns == 0);
  static_assert(kThreads == 32 * (kRows / kWarpRows) * kWarpsAcross);
  static_assert(kThreadRows % 4 == 0 && kThreadColumns % 4 == 0 && kDepth % 2 == 0);
};

/// Where in C a block's tile begins: down 8 tile rows, then the next column.
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

/// Where in the block's tile a thread's sums begin. Its rows are row + e and its columns column +
/// e, e = 0 … 3, then the same kLanesDown·4 rows further down, kLanesAcross·4 columns further
/// right.
template <class T>
__device__ Origin origin_in_block(int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const int lane_row = (lane & 1) | ((lane >> 3) & 2), lane_column = (lane >> 1) & 7;
  return {warp / T::kWarpsAcross * T::kWarpRows + lane_row * 4,
          warp % T::kWarpsAcross * T::kWarpColumns + lane_column * 4};
}

/// Reads kCount words, four at a time; a four begins kApart words after the one before it.
template <int kCount, int kApart>
__device__ void read(float (&to)[kCount], const float* from) {
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + i / 4 * kApart);
    to[i] = four.x, to[i + 1] = four.y, to[i + 2] = four.z, to[i + 3] = four.w;
  }
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks)
    vectorized_kernel(int m, int n, int k, const float* __restrict__ a, const float* __restrict__ b,
                      float* __restrict__ c) {
  extern __shared__ __align__(16) float shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const Origin block = origin_of<T>(static_cast<int>(blockIdx.x), m, n);
  const Origin mine = origin_in_block<T>(thread);
  const int tiles = (k + T::kDepth - 1) / T::kDepth;

  TransposingCopy<T::kRows, T::kDepth, T::kStrideA, T::kThreads, kAligned> copy_a(
      a, m, k, block.row, thread);
  const TileCopy<T::kDepth, T::kColumns, T::kColumns, T::kThreads, kAligned> copy_b(
      b, k, n, 0, block.column, thread);
  const auto stage = [&](int s) { return shared + s * T::kStageFloats; };  // A's tile, then B's
  const auto start_b = [&](int t) {
    if (t < tiles) copy_b.start(stage(t % T::kStages) + T::kFloatsA, t * T::kDepth, 0);
    commit_copies();  // an empty group too: groups are counted as tiles
  };

  float sum[T::kThreadRows][T::kThreadColumns] = {};
  float a_step[2][T::kThreadRows], b_step[2][T::kThreadColumns];  // this step's and the next one's
  const auto read_step = [&](int i, const float* from, int row) {
    read<T::kThreadRows, kLanesDown * 4>(a_step[i], from + row * T::kStrideA + mine.row);
    read<T::kThreadColumns, kLanesAcross * 4>(b_step[i],
                                              from + T::kFloatsA + row * T::kColumns + mine.column);
  };

  copy_a.load(0);
  for (int t = 0; t < T::kStages - 1; ++t) start_b(t);
  copy_a.store(stage(0));
  wait_for_copies<T::kStages - 2>();  // tile 0 of B
  __syncthreads();
  const float* here = stage(0);
  read_step(0, here, 0);
  int next_stage = 1;
#pragma unroll 1
  for (int t = 0; t < tiles; ++t) {
    float* const next = stage(next_stage);
#pragma unroll
    for (int i = 0; i < T::kDepth; ++i) {
      if (i == T::kDepth - 1) {
        copy_a.store(next);                 // its last reader passed the barrier of tile t-1
        wait_for_copies<T::kStages - 2>();  // B of tile t+1
        __syncthreads();                    // tile t+1 is complete, and tile t in registers
      }
      read_step((i + 1) % 2, i == T::kDepth - 1 ? next : here, (i + 1) % T::kDepth);
      if (i == 0) {
        copy_a.load((t + 1) * T::kDepth);  // zeros after the last tile
        start_b(t + T::kStages - 1);       // in place of tile t-1
      }
#pragma unroll
      for (int r = 0; r < T::kThreadRows; ++r) {
#pragma unroll
        for (int q = 0; q < T::kThreadColumns; ++q) {
          const int s = r % 2 == 0 ? q : T::kThreadColumns - 1 - q;  // serpentine: one operand
          sum[r][s] = fmaf(a_step[i % 2][r], b_step[i % 2][s], sum[r][s]);  // of two stays the same
        }
      }
    }
    here = next;
    next_stage = next_stage + 1 == T::kStages ? 0 : next_stage + 1;
  }

#pragma unroll
  for (int r = 0; r < T::kThreadRows; ++r) {
    const int row = block.row + mine.row + r / 4 * kLanesDown * 4 + r % 4;
    if (row >= m) continue;
#pragma unroll
    for (int q = 0; q < T::kThreadColumns; q += 4) {
      const int column = block.column + mine.column + q * kLanesAcross;
      float* to = c + std::int64_t{row} * n + column;
      if constexpr (kAligned) {  // n is a multiple of 4: all four columns, or none
        if (column < n) {
          *reinterpret_cast<float4*>(to) =
              make_float4(sum[r][q], sum[r][q + 1], sum[r][q + 2], sum[r][q + 3]);
        }
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          if (column + e < n) to[e] = sum[r][q + e];
        }
      }
    }
  }
}

template <int kRows, int kColumns, int kDepth, int kThreadRows, int kThreadColumns>
constexpr Compiled compiled() {
  using T = Tile<kRows, kColumns, kDepth, kThreadRows, kThreadColumns>;
  constexpr Kernel aligned = vectorized_kernel<T, true>;
  constexpr Kernel unaligned = vectorized_kernel<T, false>;
  return {configuration(kRows, kColumns, kDepth, kThreadRows, kThreadColumns), aligned, unaligned,
          dim3(T::kThreads), T::kSharedBytes};
}

constexpr std::array kCompiled = {
    compiled<128, 256, 16, 16, 8>(), compiled<128, 128, 16, 16, 8>(),
    compiled<128, 128, 8, 16, 8>(),  compiled<128, 64, 16, 8, 8>(),
    compiled<64, 64, 16, 8, 8>(),
};
constexpr auto kConfigurations = configurations(kCompiled);
constexpr Rung kRung = {"gemm.vectorized", kThreadN + 1, Raster::linear, kCompiled};

}  // namespace

KernelEntry vectorized() {
  return entry<kRung>(kConfigurations);
}

}  // namespace roofcast::cuda::gemm
