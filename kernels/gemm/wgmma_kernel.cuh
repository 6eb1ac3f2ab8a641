#pragma once
// Rung 8: the tensor cores of Hopper (compute capability 9.0a), fed by the copy engine.
//
// A wgmma multiplies 64 × kColumns sums of four warps at once, with both operands in shared memory:
// no ldmatrix, no operand registers. 64×256 sums read 2.5 bytes of shared memory for 64
// multiply-adds, where mma.sync on 64×64 reads 4, and the warps wait instead of issuing. It remains
// to keep shared memory full and the epilogue hidden:
//
// 1. One thread of a producer warpgroup starts the copies (TMA: one instruction for a box of 64
//    rows and more, swizzled on the way, zeros beyond the end of k). The other threads of its
//    warpgroup idle, and setmaxnreg gives their registers to the consumers, who hold up to 160 sums
//    a thread. Rows and columns beyond the edges are not copied (EdgedMap says why): stale shared
//    memory goes into sums that nobody stores.
// 2. A ring of kStages stages. full[s] completes when the bytes of a stage have arrived: one
//    arrival and the bytes of the tile's lines. empty[s] completes when every consumer warp, of
//    both blocks of a cluster, has released the stage: each warp arrives, so that none can see a
//    barrier two phases ahead. The i-th wait on a barrier waits for phase i; a producer's first
//    wait passes, since it names the phase before the first.
// 3. A consumer keeps one group of products in flight and frees the stage of the previous group.
// 4. The two blocks of a cluster have neighbouring tile rows and the same tile columns: each copies
//    half of B's tile to both. L2 → SM falls from k·(tile_m + tile_n) to k·(tile_m + tile_n/2)
//    elements a tile.
// 5. Blocks are persistent, one an SM, and take tiles in groups of tile rows (grouped_tile), so the
//    concurrent tiles cover a patch of C and their operands hit L2. The producer runs ahead into
//    the next tile while the consumers store this one.
// 6. Ping-pong: the warpgroups take alternate tiles, and one multiplies while the other stores. A
//    tile belongs to one warpgroup, so shared memory is read twice as often: for short k.
// 7. C goes through shared memory: stmatrix, swizzled, without bank conflicts; fence.proxy.async,
//    without which the copy engine does not see ordinary stores; TMA. Panels have 64 lines of 128
//    bytes (32 where shared memory has no room for more), two a warpgroup, so one is stored while
//    the other is filled.
// 8. Split-K: where tiles are fewer than SMs, parts of k go to different blocks, fp32 sums to a
//    workspace, and a second kernel adds them in order: the result is the same each time.
// 9. Tail split-K (split_rest): only the tiles of a partial last round are split: 168 tiles on 132
//    SMs take 1 + 1/3 rounds instead of 2. Blocks write the sums of a part to L2, and the block of
//    the last part adds them, in order, in its epilogue: no reduction kernel follows. That block
//    waits only for blocks that began before it. This is the data-parallel schedule with a stream-K
//    tail of Osama et al., "Stream-K" (2023), but with parts of one length in place of equal shares
//    of the whole tail: blocks that read an operand together stay together along k. With equal
//    shares L2 would read each operand from memory again for each.
// 10. swap_ab: Cᵀ = Bᵀ·Aᵀ. An instruction has 64 rows and any multiple of 8 columns. With its
//     columns along m, tiles fit the rows: 777 rows of C take five tiles of 160 (3% too many) in
//     place of seven of 128 (15%), and 777x6144 is 120 tiles of 160x256, one round of 132 SMs. The
//     ring and the schedule stay; C goes through stmatrix.trans. cuBLAS computes most layers this
//     way, since its matrices are column-major.
//
// TMA wants addresses and rows that are multiples of 16 bytes. Other operands are first copied to
// such rows (passes.cu): one more pass over A and B, which a large product outweighs by far. So are
// tf32 and fp8 B stored by rows of k: wgmma takes those types K-major only. Threads store an
// unaligned C from the panels. tf32: the tensor cores drop the low 13 bits of fp32. fp8: e4m3, C in
// bf16; Hopper keeps about 14 bits of a sum of fp8 products inside an instruction.
#include <cstdint>

#include "kernels/gemm/wgmma_epilogue.cuh"
#include "kernels/gemm/wgmma_instruction.cuh"
#include "kernels/gemm/wgmma_tile.cuh"

namespace roofcast::cuda::gemm::hopper {

/// Run by one thread: copies every stage of every item of this cluster, in order.
template <class T>
__device__ void produce(const Shared<T>& shared, const Work& work, int first, int stride, int rank,
                        const Maps& maps) {
  constexpr bool kShared = T::kCluster > 1;
  constexpr int kLinesB = b_box_lines(T::kTransposedB, T::kSize, T::kColumns, T::kCluster);
  const Schedule& schedule = work.schedule;
  const int rows = work.rows<T>(), columns = work.columns<T>();
  Ring<T::kStages> ring;
  for (int index = first; index < schedule.items(); index += stride) {
    const auto item = schedule.item(index, rank);
    // Bytes of A's and B's tiles, with the half of B that the peer copies.
    const int bytes = existing(item.row0, T::kRows, rows) * kPanelBytes +
                      b_bytes(T::kTransposedB, T::kSize, T::kColumns, item.column0, columns);
    for (int step = item.steps.begin; step < item.steps.past; ++step, ring.advance()) {
      const Mbarrier full = shared.full(ring.stage);
      shared.empty(ring.stage).wait(ring.phase ^ 1);
      full.expect(bytes);
      const int k0 = step * T::kDepth;
      maps.a.copy<false>(shared.a(ring.stage), T::kRows, k0, item.row0, rows, item.matrix, full);
#pragma unroll
      for (int i = 0; i < b_boxes(T::kTransposedB, T::kSize, T::kColumns); ++i) {
        const BoxPlace box = b_box(T::kTransposedB, T::kSize, T::kColumns, T::kCluster, rank, i);
        const int k = k0 + box.k, column = item.column0 + box.column;
        const unsigned to = shared.b(ring.stage) + static_cast<unsigned>(box.bytes);
        if constexpr (T::kTransposedB) {
          maps.b.copy<kShared>(to, kLinesB, k, column, columns, item.matrix, full);
        } else if (column < columns) {
          copy_box<kShared>(to, maps.b.whole, column, k, item.matrix, full);
        }
      }
    }
  }
  // A block may not exit before the last consumer of its peer has arrived at its barriers. A
  // barrier of the cluster would also wait for the stores of C.
  if constexpr (T::kCluster > 1) {
    for (int s = 0; s < T::kStages; ++s, ring.advance()) {
      shared.empty(ring.stage).wait(ring.phase ^ 1);
    }
  }
}

/// Multiplies one item and advances the ring past it. `sum` is complete afterwards.
template <class T>
__device__ void consume(const Shared<T>& shared, Ring<T::kStages>& ring, Range steps, int row,
                        Sums<T>& sum, Mbarrier next_turn) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const auto release = [&](int stage) {
    if (lane < T::kCluster) arrive_at(shared.empty(stage), lane);
  };
  // Descriptors of stage 0, to which offsets in units of 16 bytes are added: bits 0-13 do not
  // overflow, since shared memory ends below 2^18.
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
    wait_for_products<1>();  // the previous group: its stage has been read
    if (step > steps.begin) release(before);
    before = ring.stage;
    ring.advance();
  }
  if constexpr (T::kPingPong) {
    // Every warp arrives: else the barrier could be two phases ahead of a warp that still waits.
    if (lane == 0) arrive(next_turn);
  }
  wait_for_products<0>();
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) settle(sum[d]);
  release(before);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    wgmma_kernel(const __grid_constant__ Maps maps, const __grid_constant__ Work work) {
  extern __shared__ unsigned char dynamic[];
  const Shared<T> shared{(rows::shared_address(dynamic) + kAlignment - 1) / kAlignment *
                         kAlignment};
  const int rank = T::kCluster > 1 ? Cluster::here().rank : 0;
  const int first = static_cast<int>(blockIdx.x) / T::kCluster;
  const int stride = static_cast<int>(gridDim.x) / T::kCluster;
  const Schedule& schedule = work.schedule;

  if (threadIdx.x == 0) {
    prefetch(maps.a.whole);
    prefetch(maps.b.whole);
    for (int s = 0; s < T::kStages; ++s) {
      init(shared.full(s), 1);
      init(shared.empty(s), T::kFreeing * T::kCluster);
    }
    init(shared.turn(0), kWarpgroup / 32);
    init(shared.turn(1), kWarpgroup / 32);
    Mbarrier::publish_init();
  }
  if (threadIdx.x == 32 && work.parts == nullptr && work.c == nullptr) prefetch(maps.c);
  if (threadIdx.x == 64 && work.rows<T>() % T::kRows != 0) prefetch(maps.a.edge);
  if (threadIdx.x == 96 && work.columns<T>() % T::kColumns != 0) prefetch(maps.b.edge);
  __syncthreads();
  if constexpr (T::kCluster > 1) {     // first the peer has to initialize its barriers
    Cluster::here().arrive_relaxed();  // publish_init has published them
    Cluster::here().wait();
  }

  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  if (warpgroup < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(T::kProducerRegisters));
    if (threadIdx.x == 0) produce<T>(shared, work, first, stride, rank, maps);
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
        if (turn % 2 != warpgroup) {  // the other warpgroup's item
          ring.advance(item.steps.past - item.steps.begin);
          continue;
        }
        // Warpgroup 0 begins; then each waits for the other's products. Turn i/2 of warpgroup 1 is
        // phase i/2 of its barrier; warpgroup 0 is one phase ahead.
        shared.turn(warpgroup).wait(static_cast<unsigned>(turn / 2 + 1 - warpgroup) & 1);
      }
      Sums<T> sum;
      consume<T>(shared, ring, item.steps, own_row, sum, shared.turn(1 - warpgroup % 2));
      const TilePlace place{item.matrix, item.row0 + own_row, item.column0};
      if (work.parts != nullptr) {
        const std::int64_t before = std::int64_t{item.part} * schedule.matrices + item.matrix;
        store_part<T>(work.parts + before * work.m * work.n, work.m, work.n, sum, place.row,
                      place.column, warp, lane);
        continue;
      }
      const int others = item.tile < 0 ? 0 : schedule.split.parts - 1;
      const Parts<T> parts(work.workspace, others, schedule.slot(item.tile, 0, rank), T::kCluster,
                           warpgroup);
      if (item.part < others) {
        parts.leave(item.part, sum);
        continue;
      }
      if (others > 0) {
        parts.wait();
        parts.add_to(sum);
      }
      Store<T>{shared, maps.c, work, place, warpgroup}.tile(sum, panel);
    }
    if (threadIdx.x % kWarpgroup == 0) {
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // shared memory may be freed
    }
  }
}

}  // namespace roofcast::cuda::gemm::hopper
