#pragma once
// Split-K in one launch: how blocks exchange partial sums (joined_parts.hpp).
#include <algorithm>

#include "kernels/gemm/joined_parts.hpp"

namespace roofcast::cuda::gemm {

/// Sets the flag: what this thread, and threads it synchronized with, wrote before can be read.
__device__ inline void raise(std::uint64_t* flag, std::uint64_t ticket) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flag), "l"(ticket) : "memory");
}
/// Waits until the flag is set and clears it, since a CUDA graph relaunches with the same ticket.
__device__ inline void await(std::uint64_t* flag, std::uint64_t ticket) {
  std::uint64_t found = 0;
  while (found != ticket) {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(found) : "l"(flag) : "memory");
  }
  *flag = 0;
}

/// Split k of a tile, one part a block; the block of the last part adds the sums of the others.
/// They are added in the order of the parts, so results repeat. The wait cannot deadlock: blocks
/// start in the order of their indices, and the block of the last part has a higher index than the
/// blocks that it waits for, so those run or are done. Each of kThreads threads has kCount sums of
/// type Unit, float or float4.
template <class Unit, int kCount, int kThreads>
class BlockParts {
  static constexpr int kFloats = sizeof(Unit) / sizeof(float);
  /// Parts whose loads are in flight at once: 1 to 4, as 64 registers hold.
  static constexpr int kAtOnce = std::clamp(64 / (kCount * kFloats), 1, 4);

 public:
  using Sums = float[kCount * kFloats];

  /// Number of float4 that the block of a part writes.
  static constexpr std::int64_t kFours = std::int64_t{kCount} * kThreads * kFloats / 4;
  static_assert(kCount * kThreads * kFloats % 4 == 0);

  /// For tile `tile`, whose k has `parts` parts.
  __device__ BlockParts(const Workspace& workspace, std::int64_t tile, int parts)
      : sums_(reinterpret_cast<Unit*>(workspace.sums + tile * (parts - 1) * kFours) + threadIdx.x),
        flags_(workspace.flags + tile * (parts - 1)),
        ticket_(workspace.ticket),
        others_(parts - 1) {}

  /// Whether the block of `part` writes its sums for the block of the last part, which adds them.
  __device__ bool leaves(int part) const { return part < others_; }

  __device__ void leave(int part, const Sums& sum) const {
    Unit* const to = sums_ + std::int64_t{part} * kCount * kThreads;
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i * kThreads] = unit_at(&sum[i * kFloats]);
    __syncthreads();
    if (threadIdx.x == 0) raise(flags_ + part, ticket_);
  }

  /// Waits for the other parts and adds their sums.
  __device__ void join(Sums& sum) const {
    for (int part = static_cast<int>(threadIdx.x); part < others_; part += kThreads) {
      await(flags_ + part, ticket_);
    }
    __syncthreads();
#pragma unroll 1
    for (int first = 0; first < others_; first += kAtOnce) {
      Unit held[kAtOnce][kCount];
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          held[p][i] = {};
          if (first + p < others_) {
            held[p][i] = __ldcg(sums_ + (std::int64_t{first + p} * kCount + i) * kThreads);
          }
        }
      }
#pragma unroll
      for (int p = 0; p < kAtOnce; ++p) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) add(&sum[i * kFloats], held[p][i]);
      }
    }
  }

 private:
  __device__ static Unit unit_at(const float* from) {
    if constexpr (kFloats == 1) {
      return from[0];
    } else {
      return make_float4(from[0], from[1], from[2], from[3]);
    }
  }
  __device__ static void add(float* to, const Unit& from) {
    if constexpr (kFloats == 1) {
      to[0] += from;
    } else {
      to[0] += from.x, to[1] += from.y, to[2] += from.z, to[3] += from.w;
    }
  }

  Unit* sums_;
  std::uint64_t* flags_;
  std::uint64_t ticket_;
  int others_;
};

}  // namespace roofcast::cuda::gemm
