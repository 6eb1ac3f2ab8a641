#pragma once
// Rows that stream through shared memory while earlier ones are reduced (compute capability 9.0).
//
// A block takes several rows in turn. Each of its warps owns the same segment of every row, and a
// ring of buffers for it in shared memory: one lane asks for the segment of a later row by a bulk
// copy, an mbarrier tells the warp when it is there, and as soon as the warp has it in registers
// the buffer is asked for again. So the bytes in flight are those of the ring, whatever the warps
// are waiting for, and no warp waits for another before it loads.
//
// PTX ISA: cp.async.bulk, mbarrier, st.async, mapa. On older devices these do nothing; no kernel
// that calls them is launched there.
#include <cstdint>

#include "kernels/common/rows.cuh"

namespace roofcast::cuda::rows {

__device__ inline unsigned shared_address(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

/// 16 bytes as one access: loads of vectors that are unpacked at once may be split into bytes.
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

/// An mbarrier at a shared address, for phases of one arrival and any number of bytes.
struct Mbarrier {
  unsigned address;

  __device__ void init() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
#endif
  }
  /// Seen by bulk copies and by the blocks of the cluster from here on.
  static __device__ void publish_init() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  /// The phase is over once that many bytes have come.
  __device__ void expect(int bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                 : "memory");
#endif
  }
  /// Waits for a phase: 0 for the first, 1 for the second, 0 again. What other blocks of the
  /// cluster sent is seen too.
  __device__ void wait(unsigned phase) const {
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

/// `bytes`, a multiple of 16, to a shared address; both addresses multiples of 16.
__device__ inline void copy_bulk(unsigned to, const void* from, int bytes, Mbarrier arrival) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(arrival.address)
      : "memory");
#endif
}

/// One value to the same place in the shared memory of a block of the cluster, and its 8 bytes to
/// the arrival there.
__device__ inline void send(float2* place, Mbarrier arrival, int to_rank, float2 value) {
#if __CUDA_ARCH__ >= 900
  unsigned there, arrival_there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there)
      : "r"(shared_address(place)), "r"(to_rank));
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(arrival_there)
      : "r"(arrival.address), "r"(to_rank));
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [%0], {%1, %2}, [%3];" ::"r"(
          there),
      "f"(value.x), "f"(value.y), "r"(arrival_there)
      : "memory");
#endif
}

/// A ring of buffers for one warp's segment of consecutive rows: `kVectors` accesses of 16 bytes a
/// lane of each of `kArrays` matrices. All lanes call all functions together.
template <int kVectors, int kArrays = 1>
class WarpRing {
 public:
  static constexpr int kSegmentBytes = kVectors * static_cast<int>(kWarp) * kVectorBytes;
  static_assert(kSegmentBytes == roofcast::rows::ring_segment_bytes(kVectors));

  /// In `shared`, on a multiple of 128 bytes: the buffers of all warps, then their arrivals;
  /// model/kernels/rows.hpp counts them.
  __device__ WarpRing(void* shared, int stages) : stages_(stages) {
    const auto warp = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
    const int stage_bytes = kArrays * kSegmentBytes;
    buffers_ = shared_address(shared) + static_cast<unsigned>(warp * stages * stage_bytes);
    arrivals_ = shared_address(shared) +
                static_cast<unsigned>(warps * stages * stage_bytes + warp * stages * kArrivalBytes);
    if (threadIdx.x % 32 == 0) {
      for (int s = 0; s < stages; ++s) mbarrier(s).init();
      Mbarrier::publish_init();
    }
    __syncwarp();
  }

  /// Asks for the first `bytes` of the segment, a multiple of 16, of the row that is `ahead` rows
  /// after the one that `wait` waits for; its buffer must be free: fewer ahead than there are
  /// stages, or as many once `vector` was called for the last time.
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
  /// Until the row is there.
  __device__ void wait() const { mbarrier(stage_).wait(phase_); }
  /// Access i of this lane.
  __device__ Packed vector(int array, int i) const {
    const unsigned from = buffer(stage_, array) +
                          (static_cast<unsigned>(i) * kWarp + threadIdx.x % 32) * kVectorBytes;
    return load_shared(from);
  }
  /// To the next row.
  __device__ void advance() {
    if (++stage_ == stages_) stage_ = 0, phase_ ^= 1;
  }

 private:
  static constexpr int kArrivalBytes = static_cast<int>(roofcast::rows::kArrivalBytes);

  __device__ Mbarrier mbarrier(int s) const {
    return {arrivals_ + static_cast<unsigned>(s * kArrivalBytes)};
  }
  __device__ unsigned buffer(int s, int array) const {
    return buffers_ + static_cast<unsigned>((s * kArrays + array) * kSegmentBytes);
  }

  unsigned buffers_, arrivals_;  // shared addresses
  int stages_, stage_ = 0;
  unsigned phase_ = 0;
};

/// What the warps of a row have for each other, once a row: those of a block over a barrier; those
/// of a cluster by stores that themselves count as arrived, so that no barrier of all blocks is
/// needed. Two places take turns: a warp sends its next part only after it has read this row's.
template <bool kClustered, int kBlockWarps>
struct Exchange {
  static constexpr int kParts = kBlockWarps * (kClustered ? static_cast<int>(kMaxCluster) : 1);
  struct Shared {
    float2 parts[2][kParts];
    unsigned long long arrivals[2];
  };

  Shared& shared;
  Cluster cluster;
  int warps;  ///< of the row
  int turn = 0;
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
  /// Before the first `all`: every block of the cluster runs.
  __device__ void start() const {
    if constexpr (kClustered) cluster.wait();
  }
  /// Of all warps of the row.
  __device__ int warp() const {
    return cluster.rank * static_cast<int>(blockDim.x / 32) + static_cast<int>(threadIdx.x / 32);
  }
  /// The parts of all warps of the row from each warp's own. Valid until the next call.
  __device__ const float2* all(float2 mine) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    float2* const parts = shared.parts[turn];
    if constexpr (kClustered) {
      if (threadIdx.x == 0) mbarrier(turn).expect(warps * static_cast<int>(sizeof(float2)));
      if (lane < cluster.size) send(&parts[warp()], mbarrier(turn), lane, mine);
      mbarrier(turn).wait(phase);
    } else {
      if (lane == 0) parts[warp()] = mine;
      __syncthreads();
    }
    turn ^= 1;
    phase ^= turn == 0 ? 1 : 0;
    return parts;
  }

 private:
  __device__ Mbarrier mbarrier(int i) const { return {shared_address(&shared.arrivals[i])}; }
};

}  // namespace roofcast::cuda::rows
