#pragma once
// Device functions that the microbenchmarks share.
#include <cstdint>

namespace roofcast::microbench {

/// The SM's cycle counter; the compiler neither moves nor merges the read.
__device__ inline std::uint64_t cycle_count() {
  std::uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}

/// A load that bypasses L1; the compiler keeps such loads in order.
__device__ inline uint4 load_past_l1(const uint4* p) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

__device__ inline std::uint32_t sum_of(const uint4& v) {
  return v.x + v.y + v.z + v.w;
}

}  // namespace roofcast::microbench
