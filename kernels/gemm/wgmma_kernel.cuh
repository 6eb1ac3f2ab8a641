#pragma once
// Rung 8: the tensor cores of Hopper (compute capability 9.0a), fed by the copy engine.
//
// A wgmma multiplies 64 × kColumns sums of four warps at once, with both operands in shared memory:
// no ldmatrix, no operand registers. 64×256 sums take 2 bytes of shared memory for 64 multiply-adds
// where mma.sync on 64×64 needs 4, and the warps wait instead of issuing. What remains is to keep
// shared memory full and the epilogue out of the way:
//
// 1. One thread of a producer warpgroup starts the copies (TMA: one instruction for a box of 64 rows
//    and more, swizzled on the way, zeros beyond the edges). The others of its warpgroup do nothing,
//    and setmaxnreg gives their registers to the consumers, who hold 128 sums a thread.
// 2. A ring of kStages stages. full[s] completes when the bytes of a stage have come: one arrival and
//    kStageBytes. empty[s] completes when every consumer warp, of both blocks of a cluster, has done
//    with it: from each warp, so that none can find a barrier two phases past. Wait number i of a
//    barrier waits for phase i; a producer's first wait passes, since it names the phase before the
//    first.
// 3. A consumer keeps one group of products in flight and frees the stage of the group before it.
// 4. The two blocks of a cluster have neighbouring tile rows and the same tile columns: each copies
//    half of B's tile to both. L2 → SM falls from k·(tile_m + tile_n) to k·(tile_m + tile_n/2) bytes
//    a tile, times the size of an element.
// 5. Blocks stay, one an SM, and take tile after tile in groups of tile rows (grouped_tile), so the
//    tiles in work cover a patch of C and their operands are found in L2. The producer runs ahead
//    into the next tile while the consumers store this one.
// 6. Ping-pong: the warpgroups take alternate tiles, and one multiplies while the other stores. The
//    tile is that of one warpgroup, so shared memory is read twice as often: for short k.
// 7. C goes through shared memory: stmatrix, swizzled, without conflicts; fence.proxy.async, for the
//    copy engine does not see ordinary stores otherwise; TMA. Panels of 64 rows × 128 bytes, two a
//    warpgroup, so one is stored while the other is filled.
// 8. Split k: where tiles are fewer than SMs, parts of k go to different blocks, fp32 sums to a
//    workspace, and a second kernel adds them in order: the result is the same each time.
//
// TMA wants addresses and rows that are multiples of 16 bytes. Operands that are not are copied
// first to rows that are (passes.cu): one more pass over A and B, which a large product outweighs by
// far. So are tf32 and fp8 B stored by rows of k: wgmma takes those types K-major only. C that is
// not aligned is stored from the panels by its threads.
// tf32: the tensor cores drop the low 13 bits of fp32. fp8: e4m3, C in bf16; Hopper keeps about 14
// bits of a sum of fp8 products inside an instruction.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "kernels/common/element.cuh"
#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/wgmma_instruction.cuh"

namespace roofcast::cuda::gemm::hopper {

constexpr int kWarpgroup = 128;
constexpr int kInstructionRows = 64;
constexpr int kPanelRows = 64;  // of C in shared memory
constexpr int kPanelTileBytes = kPanelRows * kPanelBytes;
constexpr int kPanelsOfC = 2;     // of a warpgroup
constexpr int kAlignment = 1024;  // of swizzled tiles

template <class Element>
using Result = std::conditional_t<std::is_same_v<Element, __nv_fp8_e4m3>, __nv_bfloat16, Element>;

template <class Element_, int kRows_, int kColumns_, int kStages_, int kConsumers_, int kCluster_,
          bool kPingPong_, bool kTransposedB_>
struct Tile {
  using Element = Element_;
  using Out = Result<Element>;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kStages = kStages_;
  static constexpr int kConsumers = kConsumers_, kCluster = kCluster_;
  static constexpr bool kPingPong = kPingPong_, kTransposedB = kTransposedB_;
  static constexpr int kSize = static_cast<int>(sizeof(Element));
  static constexpr int kDepth = kPanelBytes / kSize;  // a line of k
  static constexpr int kSteps = kPanelBytes / kStepBytes;
  static constexpr int kThreads = kWarpgroup * (1 + kConsumers);
  /// Rows of C that one warpgroup sums.
  static constexpr int kOwnRows = kPingPong ? kRows : kRows / kConsumers;
  static constexpr int kDown = kOwnRows / kInstructionRows;
  // A: kRows lines of k. B: kColumns lines of k, or panels of kPanelBytes of columns with a line for
  // each of kDepth rows of k.
  static constexpr int kBytesA = kRows * kPanelBytes, kBytesB = kColumns * kPanelBytes;
  static constexpr int kPanelBytesB = kDepth * kPanelBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kBytesC = kConsumers * kPanelsOfC * kPanelTileBytes;
  static constexpr int kBarriers = 2 * kStages + 2;
  static constexpr int kSharedBytes = kAlignment + kStages * kStageBytes + kBytesC + kBarriers * 8;
  /// Registers: 65536 / kThreads at launch, rounded down to 8; then these.
  static constexpr int kProducerRegisters = kConsumers == 2 ? 40 : 32;
  static constexpr int kConsumerRegisters = kConsumers == 2 ? 232 : 160;
  static_assert((kProducerRegisters + kConsumers * kConsumerRegisters) * kWarpgroup <= 65536);
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(kRows <= 256 && kColumns <= 256);  // the most lines of a TMA box
  static_assert(kOwnRows % kInstructionRows == 0 && kColumns % 64 == 0);
  static_assert(!kPingPong || kConsumers == 2);
  static_assert(kCluster == 1 || kCluster == 2);
  // Halves of B begin at multiples of the swizzle's 1024 bytes.
  static_assert(kColumns / kCluster % 8 == 0 && kDepth / kCluster % 8 == 0);
  /// Warps that free a stage, in one block.
  static constexpr int kFreeing = (kPingPong ? 1 : kConsumers) * kWarpgroup / 32;
};

template <class T>
__host__ __device__ constexpr Schedule schedule_of(int m, int n, int k, int parts, int group_rows) {
  return Schedule::of(m, n, k, parts, T::kRows, T::kColumns, T::kDepth, T::kCluster, group_rows);
}

/// What the kernel is told besides the tensor maps.
struct Work {
  int m, n, k, parts;  ///< parts of k
  int group_rows;      ///< tile rows that blocks visit before the next tile column
  void* c;             ///< where threads store C; null where TMA does
  std::int64_t row_c;
  float* sums;  ///< of parts of k, [parts][m][n]; null where there is one part
};

template <class T>
struct Shared {
  unsigned base;

  __device__ unsigned a(int stage) const {
    return base + static_cast<unsigned>(stage * T::kStageBytes);
  }
  __device__ unsigned b(int stage) const { return a(stage) + T::kBytesA; }
  __device__ unsigned c(int warpgroup, int panel) const {
    return base + static_cast<unsigned>(T::kStages * T::kStageBytes +
                                        (warpgroup * kPanelsOfC + panel) * kPanelTileBytes);
  }
  __device__ Mbarrier full(int stage) const { return barrier(stage); }
  __device__ Mbarrier empty(int stage) const { return barrier(T::kStages + stage); }
  /// That warpgroup's turn to multiply (ping-pong).
  __device__ Mbarrier turn(int warpgroup) const { return barrier(2 * T::kStages + warpgroup); }

 private:
  __device__ Mbarrier barrier(int i) const {
    return {base + static_cast<unsigned>(T::kStages * T::kStageBytes + T::kBytesC + i * 8)};
  }
};

/// One thread: every stage of every item of this cluster, in order.
template <class T>
__device__ void produce(const Shared<T>& shared, const Schedule& schedule, int first, int stride,
                        int rank, const CUtensorMap& a, const CUtensorMap& b) {
  Ring<T::kStages> ring;
  for (int index = first; index < schedule.items(); index += stride) {
    const auto item = schedule.item(index, rank);
    for (int step = item.steps.begin; step < item.steps.past; ++step, ring.advance()) {
      const Mbarrier full = shared.full(ring.stage);
      shared.empty(ring.stage).wait(ring.phase ^ 1);
      // All of A's and B's tile, the peer's half of B among it; boxes count in full beyond edges.
      full.expect(T::kStageBytes);
      const int k0 = step * T::kDepth;
      copy_box<false>(shared.a(ring.stage), a, k0, item.row0, full);
#pragma unroll
      for (int i = 0; i < b_boxes(T::kTransposedB, T::kSize, T::kColumns); ++i) {
        const BoxPlace box = b_box(T::kTransposedB, T::kSize, T::kColumns, T::kCluster, rank, i);
        const int k = k0 + box.k, column = item.column0 + box.column;
        copy_box<(T::kCluster > 1)>(shared.b(ring.stage) + static_cast<unsigned>(box.bytes), b,
                                    T::kTransposedB ? k : column, T::kTransposedB ? column : k,
                                    full);
      }
    }
  }
}

template <class T>
using Sums = float[T::kDown][T::kColumns / 2];

/// The products of one item; leaves the ring behind it. `sum` is complete afterwards.
template <class T>
__device__ void consume(const Shared<T>& shared, Ring<T::kStages>& ring, Range steps, int row,
                        Sums<T>& sum, Mbarrier next_turn) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto release = [&](int stage) {
    if (lane < T::kCluster) arrive_at(shared.empty(stage), lane);
  };
  // Addresses in units of 16 bytes from stage 0: bits 0-13 of the descriptors do not overflow, since
  // shared memory ends below 2^18.
  const std::uint64_t a0 =
      descriptor(shared.a(0) + static_cast<unsigned>(row * kPanelBytes), 16, 8 * kPanelBytes);
  const std::uint64_t b0 = T::kTransposedB
                               ? descriptor(shared.b(0), 16, 8 * kPanelBytes)
                               : descriptor(shared.b(0), T::kPanelBytesB, 8 * kPanelBytes);
  constexpr int kStepB = b_step_bytes(T::kTransposedB, T::kSize);
  int before = 0;  // the stage of the group in flight
#pragma unroll 1
  for (int step = steps.begin; step < steps.past; ++step) {
    shared.full(ring.stage).wait(ring.phase);
    const auto stage = static_cast<std::uint64_t>(ring.stage * T::kStageBytes / 16);
    begin_products();
#pragma unroll
    for (int s = 0; s < T::kSteps; ++s) {
#pragma unroll
      for (int d = 0; d < T::kDown; ++d) {
        multiply<typename T::Element, T::kColumns, T::kTransposedB>(
            sum[d], a0 + stage + (d * kInstructionRows * kPanelBytes + s * kStepBytes) / 16,
            b0 + stage + s * kStepB / 16, step > steps.begin || s > 0);
      }
    }
    commit_products();
    wait_for_products<1>();  // the group before: its stage is read
    if (step > steps.begin) release(before);
    before = ring.stage;
    ring.advance();
  }
  if constexpr (T::kPingPong) {
    // From every warp: else one that still waits for this turn might find it two phases past.
    if (lane == 0) arrive(next_turn);
  }
  wait_for_products<0>();
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) settle(sum[d]);
  release(before);
}

/// Sums of a part of k, fp32 by pairs: a quarter of a warp fills a sector. (row, column) is where
/// the warpgroup's begin.
template <class T>
__device__ void store_part(float* part, int m, int n, const Sums<T>& sum, int row, int column,
                           int warp, int lane) {
  const bool pairs =
      (reinterpret_cast<std::uintptr_t>(part) / 4 | static_cast<unsigned>(n)) % 2 == 0;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kColumns / 8; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int r = row + d * kInstructionRows + warp * 16 + place.row;
        const int s = column + q * 8 + place.column;
        if (r >= m || s >= n) continue;
        float* const to = part + std::int64_t{r} * n + s;
        const float* const from = &sum[d][q * 4 + i];
        if (pairs) {
          *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
        } else {
          to[0] = from[0];
          if (s + 1 < n) to[1] = from[1];
        }
      }
    }
  }
}

/// Writes this warp's 16 rows of a panel, from the sums that begin at `from`.
template <class Out>
__device__ void fill_panel(unsigned panel, const float* from, int warp, int lane) {
  if constexpr (sizeof(Out) == 2) {
    const LineChunk at = sum_address(lane);
#pragma unroll
    for (int q = 0; q < 8; q += 2) {  // a tile of 8 columns is a chunk
      const float* const f = from + q * 4;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                       panel + static_cast<unsigned>(
                                   swizzled<kPanelBytes>(warp * 16 + at.line, q + at.chunk))),
                   "r"(pair_of<Out>(f[0], f[1])), "r"(pair_of<Out>(f[2], f[3])),
                   "r"(pair_of<Out>(f[4], f[5])), "r"(pair_of<Out>(f[6], f[7]))
                   : "memory");
    }
  } else {
#pragma unroll
    for (int q = 0; q < 4; ++q) {  // a tile of 8 columns is two chunks
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int byte = (q * 8 + place.column) * 4;
        const int to =
            swizzled<kPanelBytes>(warp * 16 + place.row, byte / kChunkBytes) + byte % kChunkBytes;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(panel + static_cast<unsigned>(to)),
                     "f"(from[q * 4 + i]), "f"(from[q * 4 + i + 1])
                     : "memory");
      }
    }
  }
}

template <class Out>
__device__ Out load_element(unsigned from) {
  if constexpr (sizeof(Out) == 2) {
    std::uint16_t bits;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bits) : "r"(from) : "memory");
    return __builtin_bit_cast(Out, bits);
  } else {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
  }
}

/// Rows of a panel that no box can store, to C: neighbouring lanes on neighbouring elements. A warp
/// stores the 16 rows that it has filled.
template <class Out>
__device__ void store_rows(unsigned panel, Out* c, std::int64_t row_c, int rows_left,
                           int columns_left, int warp, int lane) {
  constexpr int kSize = static_cast<int>(sizeof(Out)), kColumns = kPanelBytes / kSize;
#pragma unroll 4
  for (int line = 0; line < 16; ++line) {
    const int row = warp * 16 + line;
    if (row >= rows_left) break;
#pragma unroll
    for (int column = lane; column < kColumns; column += 32) {
      const int byte = column * kSize;
      const unsigned from =
          panel + static_cast<unsigned>(swizzled<kPanelBytes>(row, byte / kChunkBytes) +
                                        byte % kChunkBytes);
      if (column < columns_left) c[row * row_c + column] = load_element<Out>(from);
    }
  }
}

/// C through shared memory: by TMA, whose stores thread 0 of the warpgroup starts, so it alone knows
/// when they have read a panel; or by rows where `work.c` is given.
template <class T>
__device__ void store_panels(const Shared<T>& shared, const CUtensorMap& c, const Work& work,
                             const Sums<T>& sum, int row, int column, int warpgroup, int& panel) {
  using Out = typename T::Out;
  constexpr int kColumns = kPanelBytes / static_cast<int>(sizeof(Out));
  const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int p = 0; p < T::kColumns / kColumns; ++p) {
      const int left = work.n - column - p * kColumns;
      if (left <= 0) break;  // the same for the warpgroup
      const unsigned to = shared.c(warpgroup, panel);
      const int first = row + d * kInstructionRows;
      if (work.c != nullptr) {
        fill_panel<Out>(to, sum[d] + p * kColumns / 2, thread / 32, thread % 32);
        __syncwarp();
        store_rows<Out>(to, static_cast<Out*>(work.c) + first * work.row_c + column + p * kColumns,
                        work.row_c, work.m - first, left, thread / 32, thread % 32);
        __syncwarp();
      } else {
        if (thread == 0) wait_for_reads<kPanelsOfC - 1>();  // of this panel, two stores ago
        meet(warpgroup);
        fill_panel<Out>(to, sum[d] + p * kColumns / 2, thread / 32, thread % 32);
        rows::fence_async_proxy();
        meet(warpgroup);
        if (thread == 0) store_box(c, column + p * kColumns, first, to);
      }
      panel ^= 1;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    wgmma_kernel(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ CUtensorMap c, const __grid_constant__ Work work) {
  extern __shared__ unsigned char dynamic[];
  const Shared<T> shared{(rows::shared_address(dynamic) + kAlignment - 1) / kAlignment *
                         kAlignment};
  const int rank = T::kCluster > 1 ? Cluster::here().rank : 0;
  const int first = static_cast<int>(blockIdx.x) / T::kCluster;
  const int stride = static_cast<int>(gridDim.x) / T::kCluster;
  const Schedule schedule = schedule_of<T>(work.m, work.n, work.k, work.parts, work.group_rows);

  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      init(shared.full(s), 1);
      init(shared.empty(s), T::kFreeing * T::kCluster);
    }
    init(shared.turn(0), kWarpgroup / 32);
    init(shared.turn(1), kWarpgroup / 32);
    Mbarrier::publish_init();
  }
  __syncthreads();
  if constexpr (T::kCluster > 1) {  // no copy or arrival before the peer's barriers are there
    Cluster::here().arrive();
    Cluster::here().wait();
  }

  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  if (warpgroup < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(T::kProducerRegisters));
    if (threadIdx.x == 0) produce<T>(shared, schedule, first, stride, rank, a, b);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(T::kConsumerRegisters));
    const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int own_row = T::kPingPong ? 0 : warpgroup * T::kOwnRows;
    Ring<T::kStages> ring;
    int panel = 0, turn = 0;
    for (int index = first; index < schedule.items(); index += stride, ++turn) {
      const auto item = schedule.item(index, rank);
      if constexpr (T::kPingPong) {
        if (turn % 2 != warpgroup) {  // the other's
          ring.advance(item.steps.past - item.steps.begin);
          continue;
        }
        // Warpgroup 0 begins; then each waits for the other's products. Turn i/2 of warpgroup 1 is
        // phase i/2 of its barrier; warpgroup 0 is one phase ahead.
        shared.turn(warpgroup).wait(static_cast<unsigned>(turn / 2 + 1 - warpgroup) & 1);
      }
      Sums<T> sum;
      consume<T>(shared, ring, item.steps, own_row, sum, shared.turn(1 - warpgroup % 2));
      const int row = item.row0 + own_row;
      if (work.parts > 1) {
        float* const to = work.sums + std::int64_t{item.part} * work.m * work.n;
        store_part<T>(to, work.m, work.n, sum, row, item.column0, warp, lane);
      } else {
        store_panels<T>(shared, c, work, sum, row, item.column0, warpgroup, panel);
      }
    }
    if (threadIdx.x % kWarpgroup == 0) {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // shared memory may go
    }
  }
  // A block stays until its peer no longer arrives at its barriers.
  if constexpr (T::kCluster > 1) {
    Cluster::here().arrive();
    Cluster::here().wait();
  }
}

}  // namespace roofcast::cuda::gemm::hopper
