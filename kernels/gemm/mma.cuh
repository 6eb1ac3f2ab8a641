#pragma once
// mma.sync on 16×8 sums (PTX ISA, "Warp-level matrix instructions"): fp16 and bf16 take 16 k, tf32
// takes 8, int8 takes 32. Also ldmatrix, which reads its operands, and the rounding of its sums.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

namespace roofcast::cuda::gemm {

/// The type of C, as the model's result_type, and that of sums in registers.
template <class Element>
using Result =
    std::conditional_t<std::is_same_v<Element, __nv_fp8_e4m3>, __nv_bfloat16,
                       std::conditional_t<std::is_same_v<Element, std::int8_t>, float, Element>>;
template <class Element>
using Sum = std::conditional_t<std::is_same_v<Element, std::int8_t>, int, float>;

/// ldmatrix.x4: matrix i to register i, from the shared address of this lane (layout.cuh).
__device__ inline void read_matrices(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
__device__ inline void read_matrices_transposed(unsigned (&to)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// c += a·b on 16×8 sums.
template <class Element>
__device__ void multiply_accumulate(Sum<Element> (&c)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
  if constexpr (std::is_same_v<Element, __half>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else if constexpr (std::is_same_v<Element, __nv_bfloat16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else if constexpr (std::is_same_v<Element, std::int8_t>) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    static_assert(std::is_same_v<Element, float>);
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// Two sums rounded to a 2-byte type, the first in the low half: one conversion instruction.
template <class Element>
__device__ unsigned pair_of(float x, float y) {
  unsigned word;
  if constexpr (std::is_same_v<Element, __half>) {
    const __half2 pair = __floats2half2_rn(x, y);
    __builtin_memcpy(&word, &pair, sizeof(word));
  } else {
    static_assert(std::is_same_v<Element, __nv_bfloat16>);
    const __nv_bfloat162 pair = __floats2bfloat162_rn(x, y);
    __builtin_memcpy(&word, &pair, sizeof(word));
  }
  return word;
}

}  // namespace roofcast::cuda::gemm
