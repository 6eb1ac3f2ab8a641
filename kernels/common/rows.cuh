#pragma once
// What kernels over rows share: a row as 16-byte vectors, reductions over the warps of a block and
// over the blocks of a cluster, and launches with clusters.
//
// A row of any length at any address has a body, the aligned vectors inside it, and two edges of
// fewer elements than a vector. Threads of the first warp take one edge element each, so a ragged
// row costs this warp one more access, and needs no other kernel. Input and output must be equally
// far past a multiple of 16 bytes; otherwise other kernels take over, which sweep over the row
// element by element.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/common/kernel.hpp"
#include "kernels/common/vector.cuh"
#include "model/kernels/common/rows.hpp"

namespace roofcast::cuda::rows {

using roofcast::rows::kCols;
using roofcast::rows::kMaxCluster;
using roofcast::rows::kMaxThreads;
using roofcast::rows::kRows;
using roofcast::rows::kWarp;
using roofcast::rows::Layout;

constexpr int kVectorBytes = static_cast<int>(roofcast::rows::kVectorBytes);
constexpr int kMaxWarps = static_cast<int>(kMaxThreads / kWarp);
constexpr unsigned kAllLanes = 0xffffffff;

template <class T>
constexpr int kWidth = kVectorBytes / static_cast<int>(sizeof(T));

/// The vectors of a row and its edges.
template <class T>
struct RowShape {
  int head;  ///< elements before the first vector
  int body;  ///< vectors
  int cols;

  /// The edge element of a thread, or `cols` if it has none.
  __device__ int edge_column(int thread) const {
    constexpr int kTail = 16;  // the tail's first thread; the head has at most 7 elements
    if (thread < head) return thread;
    const int column = head + body * kWidth<T> + thread - kTail;
    return thread >= kTail && column < cols ? column : cols;
  }
};

template <bool kAligned, class T>
__device__ RowShape<T> shape_of(const T* row, int cols) {
  int head = 0;
  if constexpr (kAligned) {
    const auto past = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) % kVectorBytes);
    head = min(cols, (kVectorBytes - past) % kVectorBytes / static_cast<int>(sizeof(T)));
  }
  return {head, (cols - head) / kWidth<T>, cols};
}

/// A vector as it lies in memory: 4 registers, whatever the element type.
using Packed = uint4;

template <bool kAligned, class T>
__device__ Packed load_packed(const T* from) {
  if constexpr (kAligned) {
    return *reinterpret_cast<const Packed*>(from);
  } else {
    Vector<T, kVectorBytes> vector;
#pragma unroll
    for (int e = 0; e < kWidth<T>; ++e) vector.element[e] = from[e];
    Packed packed;
    __builtin_memcpy(&packed, &vector, sizeof(packed));
    return packed;
  }
}

/// Loads a vector at any address, from the one or two aligned vectors that contain it.
template <class T>
__device__ Packed load_shifted(const T* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto past = static_cast<unsigned>(address % kVectorBytes);
  const auto* const aligned = reinterpret_cast<const Packed*>(address - past);
  const Packed low = __ldg(aligned);
  if (past == 0) return low;  // uniform in a warp whose lanes load consecutive vectors
  const Packed high = __ldg(aligned + 1);
  const bool two = past >= 8, one = past % 8 >= 4;  // whole words to skip
  const unsigned bits = past % 4 * 8;
  const unsigned w0 = two ? low.z : low.x, w1 = two ? low.w : low.y, w2 = two ? high.x : low.z,
                 w3 = two ? high.y : low.w, w4 = two ? high.z : high.x, w5 = two ? high.w : high.y;
  const unsigned v0 = one ? w1 : w0, v1 = one ? w2 : w1, v2 = one ? w3 : w2, v3 = one ? w4 : w3,
                 v4 = one ? w5 : w4;
  return {__funnelshift_r(v0, v1, bits), __funnelshift_r(v1, v2, bits),
          __funnelshift_r(v2, v3, bits), __funnelshift_r(v3, v4, bits)};
}

template <bool kAligned, class T>
__device__ void store_packed(T* to, const Packed& packed) {
  if constexpr (kAligned) {
    *reinterpret_cast<Packed*>(to) = packed;
  } else {
    Vector<T, kVectorBytes> vector;
    __builtin_memcpy(&vector, &packed, sizeof(packed));
#pragma unroll
    for (int e = 0; e < kWidth<T>; ++e) to[e] = vector.element[e];
  }
}

/// The value that stands for elements beyond the row.
enum class Pad { zero, minus_infinity };

template <class T, Pad kPad>
__device__ Packed padding() {
  if constexpr (kPad == Pad::zero) return {0, 0, 0, 0};
  constexpr unsigned kWord = std::is_same_v<T, float>    ? 0xff800000
                             : std::is_same_v<T, __half> ? 0xfc00fc00
                                                         : 0xff80ff80;
  return {kWord, kWord, kWord, kWord};
}

template <Pad kPad>
constexpr float kPadValue = kPad == Pad::zero ? 0.0F : -INFINITY;

__device__ inline float2 widen_pair(__half2 pair) {
  return __half22float2(pair);
}
__device__ inline float2 widen_pair(__nv_bfloat162 pair) {  // the upper half of an fp32
  unsigned word;
  __builtin_memcpy(&word, &pair, sizeof(word));
  return {__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000)};
}

template <class T>
using Pair = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

/// Unpacks the elements of a vector to fp32.
template <class T>
__device__ void unpack(const Packed& packed, float* to) {
  if constexpr (sizeof(T) == 4) {
    __builtin_memcpy(to, &packed, sizeof(packed));
  } else {
    Pair<T> pairs[4];
    __builtin_memcpy(pairs, &packed, sizeof(packed));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 two = widen_pair(pairs[i]);
      to[2 * i] = two.x, to[2 * i + 1] = two.y;
    }
  }
}

/// Rounds fp32 values to a vector; one conversion packs two elements of a 16-bit type.
template <class T>
__device__ Packed pack(const float* from) {
  Packed packed;
  if constexpr (sizeof(T) == 4) {
    __builtin_memcpy(&packed, from, sizeof(packed));
  } else {
    Pair<T> pairs[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if constexpr (std::is_same_v<T, __half>) {
        pairs[i] = __floats2half2_rn(from[2 * i], from[2 * i + 1]);
      } else {
        pairs[i] = __floats2bfloat162_rn(from[2 * i], from[2 * i + 1]);
      }
    }
    __builtin_memcpy(&packed, pairs, sizeof(packed));
  }
  return packed;
}

__device__ inline float warp_max(float x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) {
    x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, apart));
  }
  return x;
}

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) x += __shfl_xor_sync(kAllLanes, x, apart);
  return x;
}

/// A thread-block cluster (compute capability 9.0), whose blocks run at the same time and can write
/// each other's shared memory. PTX ISA: mapa, barrier.cluster, st.shared::cluster. On older devices
/// the functions do nothing; no kernel that uses clusters is launched there.
struct Cluster {
  int rank, size;

  static __device__ Cluster here() {
#if __CUDA_ARCH__ >= 900
    int rank, size;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return {rank, size};
#else
    return {0, 1};
#endif
  }
  /// Arrives at the cluster's barrier. Earlier writes of this thread are visible to all threads of
  /// the cluster after their wait(). The .aligned forms need a converged warp.
  __device__ void arrive() const {
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
  }
  /// Arrives without release semantics: it does not wait for this thread's earlier writes.
  __device__ void arrive_relaxed() const {
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }
  __device__ void wait() const {
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }
  /// Stores to the same place in the shared memory of another block.
  __device__ void store(float4* place, int to_rank, float4 value) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at(place, to_rank)),
                 "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w)
                 : "memory");
#endif
  }
  __device__ void store(float2* place, int to_rank, float2 value) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(at(place, to_rank)),
                 "f"(value.x), "f"(value.y)
                 : "memory");
#endif
  }

 private:
#if __CUDA_ARCH__ >= 900
  /// The cluster address of the same place in the shared memory of block `rank`.
  static __device__ unsigned at(const void* place, int rank) {
    const auto here = static_cast<unsigned>(__cvta_generic_to_shared(place));
    unsigned there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
    return there;
  }
#endif
};

/// Whether both addresses are equally far past a multiple of 16 bytes, and so all rows are.
inline bool same_shift(const void* a, const void* b) {
  const auto past = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % static_cast<unsigned>(kVectorBytes);
  };
  return past(a) == past(b);
}

inline dim3 grid_of(const Layout& layout, std::int64_t rows) {
  return {static_cast<unsigned>(layout.blocks(rows))};
}

/// A block has the threads of a row along x and its rows along y.
inline dim3 block_of(const Layout& layout) {
  return {static_cast<unsigned>(layout.threads), static_cast<unsigned>(layout.rows_per_block)};
}

/// Whether the device at hand has clusters. Without a device: true.
inline bool has_clusters() {
  int device = 0, major = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return true;
  }
  return major >= 9;
}

/// What a launch sets besides its grid and block.
struct LaunchOptions {
  std::int64_t cluster = 1;      ///< blocks
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  /// Programmatic dependent launch: blocks may start before the previous launch has ended, and wait
  /// for it themselves (cudaGridDependencySynchronize). Devices without clusters lack this too, and
  /// blocks start after the previous launch there.
  bool starts_early = false;
};

/// Enqueues a kernel.
inline void launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   cudaStream_t stream, const LaunchOptions& options = {}) {
  constexpr std::size_t kWithoutAsking = 48 * 1024;
  if (options.shared_bytes > kWithoutAsking) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(options.shared_bytes)));
  }
  constexpr std::int64_t kPortable = 8;  // larger clusters must be allowed
  if (options.cluster > kPortable) {
    check(cudaFuncSetAttribute(function, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  std::array<cudaLaunchAttribute, 2> attributes{};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = options.shared_bytes;
  config.stream = stream;
  config.attrs = attributes.data();
  const auto add = [&](cudaLaunchAttributeID id) -> cudaLaunchAttributeValue& {
    cudaLaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = id;
    return attribute.val;
  };
  if (options.cluster > 1) {
    add(cudaLaunchAttributeClusterDimension).clusterDim = {static_cast<unsigned>(options.cluster),
                                                           1, 1};
  }
  if (options.starts_early && has_clusters()) {
    add(cudaLaunchAttributeProgrammaticStreamSerialization).programmaticStreamSerializationAllowed =
        1;
  }
  check(cudaLaunchKernelExC(&config, function, arguments));
}

/// SMs of the device at hand. Without a device: those of an H100 SXM or H200.
inline std::int64_t sm_count() {
  constexpr std::int64_t kMeasured = 132;
  int device = 0, count = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) {
    (void)cudaGetLastError();
    return kMeasured;
  }
  return count;
}

/// Why the shape or the layout cannot run, or nothing.
inline std::string unsupported_shape(const Problem& p) {
  if (p[kRows] < 1 || p[kRows] > roofcast::rows::kMaxRows || p[kCols] < 1 ||
      p[kCols] > roofcast::rows::kMaxCols) {
    return "rows must be from 1 to 2^31 - 1 and cols from 1 to 2^30";
  }
  return {};
}

inline std::string unsupported_cluster(std::int64_t cluster) {
  if (cluster >= 1 && cluster <= kMaxCluster && roofcast::power_of_two_from(cluster) == cluster) {
    return {};
  }
  return "cluster must be 1, 2, 4, 8 or 16 blocks; asked for " + std::to_string(cluster);
}

inline std::string unsupported_layout(const Problem& p, const Layout& layout,
                                      std::string_view instead) {
  if (layout.threads > kMaxThreads) {
    return "a row of " + std::to_string(p[kCols]) + " " + std::string(name(p.dtype)) +
           " needs more than " + std::to_string(kMaxThreads) + " threads of " +
           std::to_string(layout.vectors) + " vectors: use " + std::string(instead);
  }
  if (layout.blocks(p[kRows]) > roofcast::rows::kMaxRows) {
    return "too many rows for one grid: use fewer blocks a row";
  }
  if (layout.cluster > 1 && !has_clusters()) {
    return "this device has no thread-block clusters (compute capability 9.0)";
  }
  return {};
}

}  // namespace roofcast::cuda::rows
