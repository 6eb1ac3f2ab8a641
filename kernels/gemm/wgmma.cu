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
//    with it. Wait number i of a barrier waits for phase i; a producer's first wait passes, since it
//    names the phase before the first.
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
// not aligned is stored by elements.
// tf32: the tensor cores drop the low 13 bits of fp32. fp8: e4m3, C in bf16; Hopper keeps about 14
// bits of a sum of fp8 products inside an instruction.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/row_ring.cuh"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/passes.hpp"
#include "kernels/gemm/tensor.hpp"
#include "kernels/gemm/tensor_map.hpp"
#include "kernels/gemm/wgmma_instruction.cuh"

namespace roofcast::cuda::gemm {
namespace {

using rows::Cluster;
using rows::Mbarrier;

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
__host__ __device__ constexpr Schedule schedule_of(int m, int n, int k, int parts) {
  return Schedule::of(m, n, k, parts, T::kRows, T::kColumns, T::kDepth, T::kCluster);
}

/// What the kernel is told besides the tensor maps.
struct Work {
  int m, n, k, parts;  ///< parts of k
  void* c;             ///< where C is stored by elements; null where by TMA
  std::int64_t row_c;
  float* sums;  ///< of parts of k, [parts][m][n]; null where there is one part
};

__device__ void init(Mbarrier mbarrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier.address), "r"(arrivals)
               : "memory");
}
__device__ void arrive(Mbarrier mbarrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(mbarrier.address)
               : "memory");
}
/// At the same barrier of block `rank` of the cluster, itself included.
__device__ void arrive_at(Mbarrier mbarrier, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mbarrier.address), "r"(rank));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there)
               : "memory");
}

/// Starts the copy of a box to shared memory; its bytes count towards the barrier. With kToAll it
/// goes to the same place in every block of the cluster of two, and counts at each one's barrier.
template <bool kToAll>
__device__ void copy_box(unsigned to, const CUtensorMap& map, int column, int row,
                         Mbarrier mbarrier) {
  if constexpr (kToAll) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
        "l"(&map), "r"(column), "r"(row), "r"(mbarrier.address), "h"(static_cast<std::uint16_t>(3))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(column), "r"(row), "r"(mbarrier.address)
        : "memory");
  }
}
__device__ void store_box(const CUtensorMap& map, int column, int row, unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
          &map),
      "r"(column), "r"(row), "r"(from)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until at most kPending of this thread's stores still read shared memory.
template <int kPending>
__device__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// All 128 threads of a consumer warpgroup meet. Barrier 0 is that of the block.
__device__ void meet(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}

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
    if (threadIdx.x % kWarpgroup == 0) arrive(next_turn);
  }
  wait_for_products<0>();
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) settle(sum[d]);
  release(before);
}

/// Sums that no box can store, by pairs of elements. (row, column) is where the warpgroup's begin.
template <class T, class Out>
__device__ void store_elements(Out* c, std::int64_t row_c, int m, int n, const Sums<T>& sum,
                               int row, int column, int warp, int lane) {
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kColumns / 8; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Place place = sum_place(lane, i);
        const int r = row + d * kInstructionRows + warp * 16 + place.row;
        const int s = column + q * 8 + place.column;
        if (r < m && s < n) c[r * row_c + s] = narrow<Out>(sum[d][q * 4 + i]);
      }
    }
  }
}

template <class Out>
__device__ unsigned pair_of(float x, float y) {
  const Out pair[2] = {narrow<Out>(x), narrow<Out>(y)};
  unsigned word;
  __builtin_memcpy(&word, pair, sizeof(word));
  return word;
}

/// Writes one panel of this warp's 16 rows: kTiles tiles of 8 columns, from sums `from`.
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

/// C by TMA. Thread 0 of the warpgroup starts all its stores, so it alone knows when they have read
/// a panel.
template <class T>
__device__ void store_panels(const Shared<T>& shared, const CUtensorMap& c, int n,
                             const Sums<T>& sum, int row, int column, int warpgroup, int& panel) {
  using Out = typename T::Out;
  constexpr int kColumns = kPanelBytes / static_cast<int>(sizeof(Out));
  const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int p = 0; p < T::kColumns / kColumns; ++p) {
      if (column + p * kColumns >= n) break;  // the same for the warpgroup
      const unsigned to = shared.c(warpgroup, panel);
      if (thread == 0) wait_for_reads<kPanelsOfC - 1>();  // of this panel, two stores ago
      meet(warpgroup);
      fill_panel<Out>(to, sum[d] + p * kColumns / 2, thread / 32, thread % 32);
      rows::fence_async_proxy();
      meet(warpgroup);
      if (thread == 0) {
        store_box(c, column + p * kColumns, row + d * kInstructionRows, to);
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
  const Schedule schedule = schedule_of<T>(work.m, work.n, work.k, work.parts);

  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      init(shared.full(s), 1);
      init(shared.empty(s), T::kFreeing * T::kCluster);
    }
    init(shared.turn(0), 1);
    init(shared.turn(1), 1);
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
        store_elements<T>(to, std::int64_t{work.n}, work.m, work.n, sum, row, item.column0, warp,
                          lane);
      } else if (work.c != nullptr) {
        store_elements<T>(static_cast<typename T::Out*>(work.c), work.row_c, work.m, work.n, sum,
                          row, item.column0, warp, lane);
      } else {
        store_panels<T>(shared, c, work.n, sum, row, item.column0, warpgroup, panel);
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

// --- Launching.

/// The operands as the kernel reads them, after copies where it cannot read them as they are.
struct Operands {
  const void *a, *b;
  std::int64_t row_a, row_b;
};

struct CompiledTile {
  Problem configuration;
  Launch (*launch)(const Shape&, int parts);
  void (*run)(const Shape&, const Operands&, void* c, int parts, float* sums, cudaStream_t);
};

template <class Element>
constexpr CUtensorMapDataType map_type() {
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  if constexpr (std::is_same_v<Element, __half>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  if constexpr (std::is_same_v<Element, float>) return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

/// Clusters of a kernel that the device holds at once: asked once, of the first device.
template <class T>
int resident_clusters() {
  static const int clusters = [] {
    const auto kernel = wgmma_kernel<T>;
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kSharedBytes));
    int device = 0, sms = 0, most = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device));
    if (T::kCluster == 1) return sms;  // one block an SM
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = T::kCluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(sms / T::kCluster * T::kCluster));
    config.blockDim = dim3(T::kThreads);
    config.dynamicSmemBytes = T::kSharedBytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaOccupancyMaxActiveClusters(&most, kernel, &config));
    if (most < 1) throw CudaError("no cluster of gemm.wgmma fits this device");
    return most;
  }();
  return clusters;
}

template <class T>
Launch launch_of(const Shape& shape, int parts) {
  const int items = schedule_of<T>(shape.m, shape.n, shape.k, parts).items();
  const int clusters = std::min(items, resident_clusters<T>());
  return {reinterpret_cast<const void*>(wgmma_kernel<T>),
          dim3(static_cast<unsigned>(clusters * T::kCluster)), dim3(T::kThreads),
          static_cast<std::size_t>(T::kSharedBytes)};
}

template <class T>
void run_tile(const Shape& shape, const Operands& from, void* c, int parts, float* sums,
              cudaStream_t stream) {
  using Out = typename T::Out;
  constexpr auto kType = map_type<typename T::Element>();
  constexpr int kLinesB = b_box_lines(T::kTransposedB, T::kSize, T::kColumns, T::kCluster);
  constexpr int kOutSize = static_cast<int>(sizeof(Out));
  CUtensorMap a = tensor_map({kType, T::kSize, from.a, from.row_a, shape.m, shape.k, T::kRows});
  CUtensorMap b = T::kTransposedB ? tensor_map({kType, T::kSize, from.b, from.row_b, shape.n,
                                                shape.k, T::kColumns / T::kCluster})
                                  : tensor_map({kType, T::kSize, from.b, from.row_b, shape.k,
                                                shape.n, T::kDepth / T::kCluster});
  const bool by_box = parts == 1 && multiple_of(16, c, shape.row_c * kOutSize);
  CUtensorMap to{};  // not read where C is stored by elements
  if (by_box) {
    to = tensor_map({map_type<Out>(), kOutSize, c, shape.row_c, shape.m, shape.n, kPanelRows});
  }
  Work work{shape.m,
            shape.n,
            shape.k,
            parts,
            by_box ? nullptr : c,
            shape.row_c,
            parts == 1 ? nullptr : sums};
  const Launch launch = launch_of<T>(shape, parts);
  void* arguments[] = {&a, &b, &to, &work};
  rows::launch(launch.function, launch.grid, launch.block, T::kCluster, arguments, stream,
               launch.shared_bytes);
}

template <class Element, DType kType, bool kTransposedB, int kRows, int kColumns, int kStages,
          int kConsumers, int kCluster, bool kPingPong>
constexpr CompiledTile compiled() {
  using T = Tile<Element, kRows, kColumns, kStages, kConsumers, kCluster, kPingPong, kTransposedB>;
  return {tensor_configuration(kType, kRows, kColumns, T::kDepth, 1, kCluster, kPingPong ? 1 : 0,
                               kTransposedB ? 1 : 0),
          launch_of<T>, run_tile<T>};
}

// Stages: as many as fit beside the panels of C.
template <class E, DType kType, bool kTransposedB>
constexpr auto halves() {
  return std::array{
      compiled<E, kType, kTransposedB, 128, 256, 4, 2, 2, false>(),
      compiled<E, kType, kTransposedB, 128, 256, 4, 2, 1, false>(),
      compiled<E, kType, kTransposedB, 256, 128, 4, 2, 2, false>(),
      compiled<E, kType, kTransposedB, 256, 128, 4, 2, 1, false>(),
      compiled<E, kType, kTransposedB, 128, 192, 4, 2, 2, false>(),
      compiled<E, kType, kTransposedB, 192, 192, 3, 3, 1, false>(),
      compiled<E, kType, kTransposedB, 128, 128, 5, 2, 2, true>(),
      compiled<E, kType, kTransposedB, 128, 128, 5, 2, 1, true>(),
      compiled<E, kType, kTransposedB, 64, 256, 4, 2, 1, true>(),
      compiled<E, kType, kTransposedB, 64, 128, 7, 2, 1, true>(),
      compiled<E, kType, kTransposedB, 64, 64, 8, 2, 1, true>(),
  };
}
/// K-major B only.
template <class E, DType kType>
constexpr auto others() {
  return std::array{
      compiled<E, kType, true, 128, 256, 4, 2, 2, false>(),
      compiled<E, kType, true, 128, 256, 4, 2, 1, false>(),
      compiled<E, kType, true, 128, 128, 5, 2, 1, true>(),
      compiled<E, kType, true, 64, 128, 7, 2, 1, true>(),
  };
}

constexpr auto kCompiled =
    joined(halves<__nv_bfloat16, DType::bf16, false>(), halves<__nv_bfloat16, DType::bf16, true>(),
           halves<__half, DType::fp16, false>(), halves<__half, DType::fp16, true>(),
           others<float, DType::tf32>(), others<__nv_fp8_e4m3, DType::fp8>());
constexpr auto kConfigurations = configurations_of(kCompiled);

int size_of(const Problem& p) {
  return static_cast<int>(size_bytes(p.dtype));
}
bool only_along_k(const Problem& p) {
  return p.dtype == DType::tf32 || p.dtype == DType::fp8;
}
const CompiledTile* find_compiled(const Problem& p) {
  Problem q = p;
  if (only_along_k(p)) q[kTransposedB] = 1;  // B is transposed first
  return find_tile(kCompiled, q);
}

/// How an operand comes to the kernel.
enum class Copy { none, rows, transposed };
Copy copy_of_a(const Problem& p, const void* a) {
  return multiple_of(16, a, shape_of(p).row_a * size_of(p)) ? Copy::none : Copy::rows;
}
Copy copy_of_b(const Problem& p, const void* b) {
  if (p[kTransposedB] == 0 && only_along_k(p)) return Copy::transposed;
  return multiple_of(16, b, shape_of(p).row_b * size_of(p)) ? Copy::none : Copy::rows;
}
MatrixView view_of_a(const Problem& p, const void* a) {
  const Shape s = shape_of(p);
  return {a, s.row_a, s.m, s.k, size_of(p)};
}
MatrixView view_of_b(const Problem& p, const void* b) {
  const Shape s = shape_of(p);
  const bool transposed = p[kTransposedB] != 0;
  return {b, s.row_b, transposed ? s.n : s.k, transposed ? s.k : s.n, size_of(p)};
}
std::size_t copied_elements(Copy copy, const MatrixView& from) {
  if (copy == Copy::none) return 0;
  const int rows = copy == Copy::rows ? from.rows : from.columns;
  const int columns = copy == Copy::rows ? from.columns : from.rows;
  return static_cast<std::size_t>(rows * padded_row(columns, from.size));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.wgmma", p, kConfigurations);
  if (p[kSplitK] < 1 || p[kSplitK] > ceil_div(p[kK], p[kTileK])) {
    return "split_k must be from 1 to the tiles of k: " +
           std::to_string(ceil_div(p[kK], p[kTileK]));
  }
  const std::int64_t items = ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) * p[kSplitK];
  if (items > std::int64_t{1} << 30) return "too many tiles: choose larger tiles";
  if (!device_is(9, 0)) {
    return "this device has no wgmma (compute capability 9.0): use gemm.mma_sync";
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  const auto add = [&](DType dtype, std::size_t elements) {
    if (elements > 0) all.scratch.push_back({dtype, elements});
  };
  add(p.dtype, copied_elements(copy_of_a(p, nullptr), view_of_a(p, nullptr)));
  add(p.dtype, copied_elements(copy_of_b(p, nullptr), view_of_b(p, nullptr)));
  if (p[kSplitK] > 1) {
    add(DType::fp32, static_cast<std::size_t>(p[kSplitK] * p[kM] * p[kN]));
  }
  return all;
}

/// Memory for the time of the work on a stream: for addresses that are not aligned, which the
/// scratch of a problem does not foresee.
class StreamMemory {
 public:
  StreamMemory(std::size_t bytes, cudaStream_t stream) : stream_(stream) {
    check(cudaMallocAsync(&data_, bytes, stream));
  }
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  ~StreamMemory() { (void)cudaFreeAsync(data_, stream_); }
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  cudaStream_t stream_;
};

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape shape = shape_of(p);
  std::size_t next_scratch = 0;
  std::vector<std::unique_ptr<StreamMemory>> memory;
  // Returns the operand and the length of its rows, copied if need be.
  const auto prepared = [&](Copy copy, Copy foreseen, const MatrixView& from) {
    if (copy == Copy::none) return std::pair{from.data, from.row};
    void* to = nullptr;
    if (foreseen != Copy::none) {
      to = at.scratch[next_scratch++];
    }
    // Scratch need not be aligned either.
    if (to == nullptr || reinterpret_cast<std::uintptr_t>(to) % 16 != 0) {
      memory.push_back(std::make_unique<StreamMemory>(
          copied_elements(copy, from) * static_cast<std::size_t>(from.size), stream));
      to = memory.back()->data();
    }
    const std::int64_t row = padded_row(copy == Copy::rows ? from.columns : from.rows, from.size);
    copy == Copy::rows ? copy_rows(from, to, row, stream) : copy_transposed(from, to, row, stream);
    return std::pair{static_cast<const void*>(to), row};
  };
  const auto [a, row_a] =
      prepared(copy_of_a(p, at.inputs[0]), copy_of_a(p, nullptr), view_of_a(p, at.inputs[0]));
  const auto [b, row_b] =
      prepared(copy_of_b(p, at.inputs[1]), copy_of_b(p, nullptr), view_of_b(p, at.inputs[1]));
  const auto parts = static_cast<int>(p[kSplitK]);
  float* const sums = parts > 1 ? static_cast<float*>(at.scratch[next_scratch]) : nullptr;
  find_compiled(p)->run(shape, {a, b, row_a, row_b}, at.outputs[0], parts, sums, stream);
  if (parts > 1) {
    sum_parts(sums, parts, shape.m, shape.n, at.outputs[0], shape.row_c, output_type(p.dtype),
              stream);
  }
}

}  // namespace

KernelEntry wgmma() {
  return {
      .name = "gemm.wgmma",
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors = with_scratch,
      .launches =
          [](const Problem& p) {
            return std::vector{find_compiled(p)->launch(shape_of(p), static_cast<int>(p[kSplitK]))};
          },
      .run = run,
      .reference = tensor_reference,
      .tolerance = tensor_tolerance};
}

}  // namespace roofcast::cuda::gemm
