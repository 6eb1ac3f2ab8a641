#pragma once
// gemm.mma_sync on Hopper (compute capability 9.0): persistent blocks, and copies by TMA.
// mma_sync.cu says why.
//
// A ring of kStages stages. full[s] completes when the bytes of stage s have arrived, empty[s] when
// every warp has its operands of the stage in registers. The i-th wait on a barrier waits for phase
// i. All warps count the copied stages and take turns to start a copy, so none falls behind for
// long.
#include <cstdint>

#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/mma_tile.cuh"
#include "kernels/gemm/schedule.cuh"

namespace roofcast::cuda::gemm {

/// Parameters of a persistent block besides the shape.
struct Boxes {
  EdgedMap a, b;  ///< for B across k, `edge` equals `whole`
  Schedule schedule;
};

/// Shared memory of a persistent block: stages, 16 rows of sums for each warp, barriers.
template <class T>
struct StayShared {
  static constexpr int kWarps = T::kThreads / 32;
  /// Bytes from row to row of a warp's sums, padded by 8 elements, which four lanes store: the
  /// eight rows of a store (sum_place) then lie in different banks.
  static constexpr int kRowBytes = (T::kWarpColumns + 8) * T::kResultSize;
  static constexpr int kSumsBytes = 16 * kRowBytes;
  static constexpr int kBarriers = T::kSharedBytes + kWarps * kSumsBytes;
  static constexpr int kBytes = kBarriers + 2 * T::kStages * 8;

  unsigned base;

  __device__ unsigned stage(int s) const {
    return base + static_cast<unsigned>(s * T::kStageBytes);
  }
  __device__ Mbarrier full(int s) const {
    return {base + kBarriers + static_cast<unsigned>(s * 8)};
  }
  __device__ Mbarrier empty(int s) const { return full(T::kStages + s); }
};

/// The next stage to copy: its item, its k and the warp whose turn it is.
template <class T>
struct StayCopies {
  const Schedule& schedule;
  int m, n, index, stride, steps_left, k0 = 0, turn = 0;
  Schedule::Item item;
  Ring<T::kStages> ring;

  __device__ StayCopies(const Schedule& all, const Shape& shape, int first, int by)
      : schedule(all),
        m(shape.m),
        n(shape.n),
        index(first),
        stride(by),
        steps_left(all.steps),
        item(all.item(first, 0)) {}
  __device__ bool left() const { return index < schedule.items(); }
  /// Bytes copied to the stage: its existing lines and panels.
  __device__ int bytes() const {
    const int of_a = existing(item.row0, T::kRows, m) * T::TileA::kBytes;
    if constexpr (T::kTransposedB) {
      return of_a + existing(item.column0, T::kColumns, n) * T::TileB::kBytes;
    } else {
      return of_a + b_bytes(false, T::kSize, T::kColumns, item.column0, n) * T::kDepth /
                        (kPanelBytes / T::kSize);
    }
  }
  /// Starts the copies of a stage. One lane of the warp whose turn it is calls this.
  __device__ void start(const StayShared<T>& shared, const Boxes& boxes) const {
    const Mbarrier full = shared.full(ring.stage);
    shared.empty(ring.stage).wait(ring.phase ^ 1);  // the first waits pass
    full.expect(bytes());
    const unsigned a = shared.stage(ring.stage), b = a + T::TileA::kTileBytes;
    boxes.a.copy<false>(a, T::kRows, k0, item.row0, m, item.matrix, full);
    if constexpr (T::kTransposedB) {
      boxes.b.copy<false>(b, T::kColumns, k0, item.column0, n, item.matrix, full);
    } else {
      constexpr int kPanel = T::TileB::kPanel * kPanelBytes, kWide = kPanelBytes / T::kSize;
#pragma unroll
      for (int p = 0; p < T::kColumns / kWide; ++p) {
        const int column = item.column0 + p * kWide;
        if (column >= n) break;
        copy_box(b + static_cast<unsigned>(p * kPanel), boxes.b.whole, column, k0, item.matrix,
                 full);
      }
    }
  }
  __device__ void advance() {
    ring.advance();
    turn = (turn + 1) % StayShared<T>::kWarps;
    k0 += T::kDepth;
    if (--steps_left > 0) return;
    index += stride, steps_left = schedule.steps, k0 = 0;
    if (left()) item = schedule.item(index, 0);
  }
};

/// Stores a warp's sums to C from `at` on, 16 rows at a time through the warp's own part of shared
/// memory `own`, so that no warp waits for another.
template <class T>
__device__ void store_warp(unsigned char* own,
                           const typename T::Sum (&sum)[T::kDown][T::kAcross][4],
                           const Shape& shape, typename T::Result* c, Place at, int lane) {
  constexpr int kWidth = kChunkBytes / T::kResultSize, kChunks = T::kWarpColumns / kWidth;
  constexpr int kRow = StayShared<T>::kRowBytes;
  static_assert(16 * kChunks % 32 == 0);
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(own));
  const bool aligned = aligned_rows<T>(c, shape);
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
    __syncwarp();  // the previous 16 rows have been read
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        store_pair<T>(
            to + static_cast<unsigned>(place.row * kRow + (q * 8 + place.column) * T::kResultSize),
            sum[d][q][i], sum[d][q][i + 1]);
      }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 16 * kChunks; i += 32) {
      const int r = (i + lane) / kChunks, chunk = (i + lane) % kChunks;
      const int row = at.row + d * 16 + r, column = at.column + chunk * kWidth;
      if (row >= shape.m || column >= shape.n) continue;
      const uint4 four = *reinterpret_cast<const uint4*>(own + r * kRow + chunk * kChunkBytes);
      store_chunk(c + row * shape.row_c + column, four, shape.n - column, aligned);
    }
  }
}

/// Computes this block's tiles of C. `dynamic`: StayShared<T>::kBytes at a multiple of 1024 bytes.
template <class T>
__device__ void stay(const Shape& shape, const Boxes& boxes, typename T::Result* __restrict__ c,
                     unsigned char* dynamic) {
  const StayShared<T> shared{rows::shared_address(dynamic)};
  const auto thread = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x);
  const auto stride = static_cast<int>(gridDim.x);
  const int lane = thread % 32;
  const int warp = __shfl_sync(~0U, thread / 32, 0);  // the compiler then knows it is uniform
  const int row = T::row_of(warp), column = T::column_of(warp);
  const Schedule& schedule = boxes.schedule;
  if (thread == 0) {
    prefetch(boxes.a.whole);
    prefetch(boxes.b.whole);
    for (int s = 0; s < T::kStages; ++s) {
      init(shared.full(s), 1);
      init(shared.empty(s), StayShared<T>::kWarps);
    }
    Mbarrier::publish_init();
  }
  __syncthreads();

  StayCopies<T> copies(schedule, shape, first, stride);
  for (int s = 0; s < T::kStages - 1; ++s) {
    if (copies.left() && warp == 0 && lane == 0) copies.start(shared, boxes);
    copies.advance();
  }
  Ring<T::kStages> ring;
  shared.full(0).wait(0);
  Fragments<T> operands[2];  // this step's and the next one's
  operands[0].read(shared.stage(0), 0, row, column, lane);
#pragma unroll 1
  for (int index = first; index < schedule.items(); index += stride) {
    typename T::Sum sum[T::kDown][T::kAcross][4] = {};
#pragma unroll 1
    for (int left = schedule.steps; left > 0; --left) {
      const unsigned here = shared.stage(ring.stage);
#pragma unroll
      for (int step = 0; step < T::kSteps; ++step) {
        const bool last = step == T::kSteps - 1;
        if (last) {
          // Only a fence orders ordinary reads before a later TMA copy (row_ring.cuh). The fences
          // take 2% of the time.
          rows::fence_async_proxy();
          __syncwarp();
          if (lane == 0) arrive(shared.empty(ring.stage));
          ring.advance();
          const bool more = left > 1 || index + stride < schedule.items();
          if (more) shared.full(ring.stage).wait(ring.phase);
        }
        operands[(step + 1) % 2].read(last ? shared.stage(ring.stage) : here,
                                      (step + 1) % T::kSteps, row, column, lane);
        if (step == 1) {  // all warps have read the previous stage, or will soon
          if (copies.left() && warp == copies.turn) {
            if (lane == 0) copies.start(shared, boxes);
            __syncwarp();
          }
          copies.advance();
        }
        multiply_step<T>(sum, operands[step % 2]);
      }
    }
    const auto item = schedule.item(index, 0);
    store_warp<T>(dynamic + T::kSharedBytes + warp * StayShared<T>::kSumsBytes, sum, shape,
                  c + item.matrix * shape.matrix_c, {item.row0 + row, item.column0 + column}, lane);
  }
}

}  // namespace roofcast::cuda::gemm
