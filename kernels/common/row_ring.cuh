#pragma once
// Rows stream through shared memory while earlier rows are reduced (compute capability 9.0).
//
// A block takes several rows, one after the other. Each warp owns the same segment of every row and
// a ring of buffers for it in shared memory. One lane starts a bulk copy of the segment of a later
// row, an mbarrier completes when the bytes have arrived, and the buffer is refilled as soon as the
// warp has them in registers. So the ring's bytes stay in flight while warps reduce or wait, and no
// warp waits for another before it loads.
//
// A bulk copy writes through the asynchronous proxy, which neither program order nor a barrier
// orders after a thread's ordinary reads of the same shared memory. So every lane that read a
// buffer executes fence.proxy.async before one lane refills the buffer: `release` does both steps.
//
// PTX ISA: cp.async.bulk, mbarrier, fence.proxy.async, st.async, mapa. On older devices these
// functions do nothing; no kernel that calls them is launched there.
#include <cstdint>

#include "kernels/common/rows.cuh"

namespace roofcast::cuda::rows {

__device__ inline unsigned shared_address(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

/// Loads 16 bytes in one access. The compiler may split a plain load of a vector that is unpacked
/// at once into loads of bytes.
__device__ inline Packed load_shared(unsigned from) {
  Packed packed;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(packed.x), "=r"(packed.y), "=r"(packed.z), "=r"(packed.w)
               : "r"(from)
               : "memory");
  return packed;
}
__device__ inline Packed load_shared(const Packed* from) {
  return load_shared(shared_address(from));
}

/// Orders this thread's reads and writes of shared memory before bulk copies that are started later
/// by a thread that synchronizes with this one.
__device__ inline void fence_async_proxy() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// An mbarrier at a shared address. A phase completes after one arrival and the bytes it expects.
struct Mbarrier {
  unsigned address;

  __device__ void init() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
#endif
  }
  /// Makes the initialization visible to bulk copies and to the blocks of the cluster.
  static __device__ void publish_init() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
    fence_async_proxy();
  }
  /// Arrives, and makes the phase wait for that many bytes too.
  __device__ void expect(int bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
#endif
  }
  /// Waits for the end of a phase, given by its parity: 0 for the first, 1 for the second, 0 again.
  /// Afterwards the bytes of bulk copies are visible, and so are the writes of this block's threads
  /// before they arrived.
  __device__ void wait(unsigned phase) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(address),
        "r"(phase)
        : "memory");
#endif
  }
  /// As wait, and makes visible what other blocks of the cluster sent. This takes longer: on sm_90
  /// an acquire beyond the block invalidates L1.
  __device__ void wait_for_cluster(unsigned phase) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;\n"
        "}\n" ::"r"(address),
        "r"(phase)
        : "memory");
#endif
  }
};

/// Starts a copy of `bytes`, a multiple of 16, to a shared address; both addresses are multiples of
/// 16. The bytes count towards the mbarrier's phase.
__device__ inline void copy_bulk(unsigned to, const void* from, int bytes, Mbarrier mbarrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(mbarrier.address)
      : "memory");
#endif
}

/// Stores a value to the same place in the shared memory of block `to_rank` of the cluster. Its 8
/// bytes count towards the phase of the same mbarrier there.
__device__ inline void send(float2* place, Mbarrier mbarrier, int to_rank, float2 value) {
#if __CUDA_ARCH__ >= 900
  unsigned there, mbarrier_there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(shared_address(place)), "r"(to_rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(mbarrier_there)
      : "r"(mbarrier.address), "r"(to_rank));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
          there),
      "f"(value.x), "f"(value.y), "r"(mbarrier_there)
      : "memory");
#endif
}

/// A ring of buffers for one warp's segment of consecutive rows. A segment has `kVectors` accesses
/// of 16 bytes a lane, in each of `kArrays` matrices. All lanes call all functions together.
template <int kVectors, int kArrays = 1>
class WarpRing {
 public:
  static constexpr int kSegmentBytes = kVectors * static_cast<int>(kWarp) * kVectorBytes;
  static_assert(kSegmentBytes == roofcast::rows::ring_segment_bytes(kVectors));

  /// `shared`, a multiple of 128 bytes, holds the buffers of all warps, then their mbarriers;
  /// model/kernels/common/rows.hpp counts the bytes.
  __device__ WarpRing(void* shared, int stages) : stages_(stages) {
    const auto warp = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
    const int stage_bytes = kArrays * kSegmentBytes;
    buffers_ = shared_address(shared) + static_cast<unsigned>(warp * stages * stage_bytes);
    mbarriers_ = shared_address(shared) + static_cast<unsigned>(warps * stages * stage_bytes +
                                                                warp * stages * kMbarrierBytes);
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < stages; ++s) mbarrier(s).init();
      Mbarrier::publish_init();
    }
    __syncwarp();
  }

  /// Starts copying the first `bytes`, a multiple of 16, of a segment from each matrix: that of the
  /// row `ahead` rows after the current one. Its buffer must be empty or released, so `ahead` is
  /// less than the number of stages.
  template <class... From>
  __device__ void prefetch(int ahead, int bytes, const From*... from) const {
    static_assert(sizeof...(From) == kArrays);
    if (threadIdx.x % 32 != 0) return;
    int s = stage_ + ahead;
    if (s >= stages_) s -= stages_;
    mbarrier(s).expect(kArrays * bytes);
    if (bytes == 0) return;
    int array = 0;
    (copy_bulk(buffer(s, array++), from, bytes, mbarrier(s)), ...);
  }
  /// Waits until the segment of the current row has arrived.
  __device__ void wait() const { mbarrier(stage_).wait(phase_); }
  /// Vector i of this lane, 16 bytes, of the current row.
  __device__ Packed vector(int array, int i) const {
    const unsigned from = buffer(stage_, array) +
                          (static_cast<unsigned>(i) * kWarp + threadIdx.x % 32) * kVectorBytes;
    return load_shared(from);
  }
  /// Frees the current row's buffer, whose vectors must have been read, and moves to the next row.
  __device__ void release() {
    fence_async_proxy();
    __syncwarp();
    if (++stage_ == stages_) stage_ = 0, phase_ ^= 1;
  }

 private:
  static constexpr int kMbarrierBytes = static_cast<int>(roofcast::rows::kArrivalBytes);

  __device__ Mbarrier mbarrier(int s) const {
    return {mbarriers_ + static_cast<unsigned>(s * kMbarrierBytes)};
  }
  __device__ unsigned buffer(int s, int array) const {
    return buffers_ + static_cast<unsigned>((s * kArrays + array) * kSegmentBytes);
  }

  unsigned buffers_, mbarriers_;  // shared addresses
  int stages_, stage_ = 0;
  unsigned phase_ = 0;
};

/// Exchanges one value a warp between all warps of a row, once a row. The warps of one block use a
/// barrier. The blocks of a cluster store to each other, and the bytes count towards an mbarrier at
/// the receiver, so no barrier of the whole cluster is needed. Parts of successive rows alternate
/// between two places, and a warp sends its part of the next row only after it has read this row's:
/// once all parts of the next row have arrived, this row's place is free.
template <bool kClustered, int kBlockWarps>
struct Exchange {
  static constexpr int kParts = kBlockWarps * (kClustered ? static_cast<int>(kMaxCluster) : 1);
  struct Shared {
    float2 parts[2][kParts];
    unsigned long long mbarriers[2];
  };

  Shared& shared;
  Cluster cluster;
  int warps;  ///< warps that share the row
  int place = 0;
  unsigned phase = 0;

  __device__ explicit Exchange(Shared& shared_)
      : shared(shared_),
        cluster(kClustered ? Cluster::here() : Cluster{0, 1}),
        warps(cluster.size * static_cast<int>(blockDim.x / 32)) {
    if constexpr (kClustered) {
      if (threadIdx.x == 0) {
        mbarrier(0).init();
        mbarrier(1).init();
        Mbarrier::publish_init();
      }
      __syncwarp();
      cluster.arrive();
    }
  }
  /// Waits until every block of the cluster runs; to call before the first `all`.
  __device__ void start() const {
    if constexpr (kClustered) cluster.wait();
  }
  /// Index of this warp among all warps of the row.
  __device__ int warp() const {
    return cluster.rank * static_cast<int>(blockDim.x / 32) + static_cast<int>(threadIdx.x / 32);
  }
  /// Sends this warp's part to all warps of the row and returns the parts of all, in the order of
  /// `warp()`. They are valid until the next call.
  __device__ const float2* all(float2 mine) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    float2* const parts = shared.parts[place];
    if constexpr (kClustered) {
      if (threadIdx.x == 0) mbarrier(place).expect(warps * static_cast<int>(sizeof(float2)));
      if (lane < cluster.size) send(&parts[warp()], mbarrier(place), lane, mine);
      mbarrier(place).wait_for_cluster(phase);
    } else {
      if (lane == 0) parts[warp()] = mine;
      __syncthreads();
    }
    place ^= 1;
    phase ^= place == 0 ? 1 : 0;
    return parts;
  }

 private:
  __device__ Mbarrier mbarrier(int i) const { return {shared_address(&shared.mbarriers[i])}; }
};

}  // namespace roofcast::cuda::rows
