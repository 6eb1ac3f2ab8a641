#pragma once
// Instructions and stores that the kernels of attention share.
#include <cuda_runtime.h>

#include <cstdint>

namespace roofcast::cuda::attention {

/// Starts a copy of kBytes to a shared address: `bytes` of them, the rest zeros. If `bytes` is 0,
/// `from` is not read.
template <int kBytes>
__device__ void start_copy(unsigned to, const void* from, int bytes) {
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes),
                 "r"(bytes)
                 : "memory");
  }
}

__device__ inline void store_shared(unsigned to, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(word) : "memory");
}
__device__ inline float4 load_shared(unsigned from) {
  float4 four;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
               : "r"(from)
               : "memory");
  return four;
}

/// Adds x and y atomically to two neighbouring floats; `to` is a multiple of 8 bytes.
__device__ inline void add_pair(float* to, float x, float y) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(x), "f"(y) : "memory");
#else
  atomicAdd(to, x);
  atomicAdd(to + 1, y);
#endif
}

/// Transposes 4×4 words among the four lanes of a row: each lane holds a word of each of four
/// chunks; afterwards lane i holds all of chunk i.
__device__ inline void exchange(std::uint32_t (&word)[4]) {
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = (threadIdx.x & static_cast<unsigned>(bit)) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      const std::uint32_t given = upper ? word[i] : word[i + bit];
      const std::uint32_t taken = __shfl_xor_sync(0xffffffff, given, bit);
      word[i] = upper ? taken : word[i];
      word[i + bit] = upper ? word[i + bit] : taken;
    }
  }
}

/// Stores eight elements of 2 bytes to a multiple of 16 bytes.
template <class Element>
__device__ void store_chunk(Element* to, const std::uint32_t (&word)[4]) {
  *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
}

}  // namespace roofcast::cuda::attention
