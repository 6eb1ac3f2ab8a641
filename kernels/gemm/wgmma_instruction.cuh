#pragma once
// wgmma.mma_async m64nN (PTX ISA 8.0, sm_90a): fp32 sums in registers, B in shared
// memory, A there or in registers.
//
// An instruction names each of its N/2 sums, and its text is a literal, so macros write them: this
// file has nothing else. All four warps of a warpgroup execute these together.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

namespace roofcast::cuda::gemm {

/// Orders this warpgroup's accesses to the sums before the products that follow.
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most kPending committed groups are in flight.
template <int kPending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// The compiler may not read the sums before this point.
template <int kCount>
__device__ void settle(float (&sums)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(sums[i])::"memory");
}

// The operand names of the sums and the sums themselves, for instructions of 16 columns and more:
// each list is the one before it and eight sums more.
#define ROOFCAST_SUMS_8(i)                                                              \
  "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), \
      "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define ROOFCAST_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define ROOFCAST_NAMES_32 ROOFCAST_NAMES_16 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define ROOFCAST_NAMES_48 ROOFCAST_NAMES_32 ", %16, %17, %18, %19, %20, %21, %22, %23"
#define ROOFCAST_NAMES_64 ROOFCAST_NAMES_48 ", %24, %25, %26, %27, %28, %29, %30, %31"
#define ROOFCAST_NAMES_80 ROOFCAST_NAMES_64 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define ROOFCAST_NAMES_96 ROOFCAST_NAMES_80 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define ROOFCAST_NAMES_112 ROOFCAST_NAMES_96 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define ROOFCAST_NAMES_128 ROOFCAST_NAMES_112 ", %56, %57, %58, %59, %60, %61, %62, %63"
#define ROOFCAST_NAMES_144 ROOFCAST_NAMES_128 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define ROOFCAST_NAMES_160 ROOFCAST_NAMES_144 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define ROOFCAST_NAMES_176 ROOFCAST_NAMES_160 ", %80, %81, %82, %83, %84, %85, %86, %87"
#define ROOFCAST_NAMES_192 ROOFCAST_NAMES_176 ", %88, %89, %90, %91, %92, %93, %94, %95"
#define ROOFCAST_NAMES_208 ROOFCAST_NAMES_192 ", %96, %97, %98, %99, %100, %101, %102, %103"
#define ROOFCAST_NAMES_224 ROOFCAST_NAMES_208 ", %104, %105, %106, %107, %108, %109, %110, %111"
#define ROOFCAST_NAMES_240 ROOFCAST_NAMES_224 ", %112, %113, %114, %115, %116, %117, %118, %119"
#define ROOFCAST_NAMES_256 ROOFCAST_NAMES_240 ", %120, %121, %122, %123, %124, %125, %126, %127"
#define ROOFCAST_ALL_16 ROOFCAST_SUMS_8(0)
#define ROOFCAST_ALL_32 ROOFCAST_ALL_16, ROOFCAST_SUMS_8(8)
#define ROOFCAST_ALL_48 ROOFCAST_ALL_32, ROOFCAST_SUMS_8(16)
#define ROOFCAST_ALL_64 ROOFCAST_ALL_48, ROOFCAST_SUMS_8(24)
#define ROOFCAST_ALL_80 ROOFCAST_ALL_64, ROOFCAST_SUMS_8(32)
#define ROOFCAST_ALL_96 ROOFCAST_ALL_80, ROOFCAST_SUMS_8(40)
#define ROOFCAST_ALL_112 ROOFCAST_ALL_96, ROOFCAST_SUMS_8(48)
#define ROOFCAST_ALL_128 ROOFCAST_ALL_112, ROOFCAST_SUMS_8(56)
#define ROOFCAST_ALL_144 ROOFCAST_ALL_128, ROOFCAST_SUMS_8(64)
#define ROOFCAST_ALL_160 ROOFCAST_ALL_144, ROOFCAST_SUMS_8(72)
#define ROOFCAST_ALL_176 ROOFCAST_ALL_160, ROOFCAST_SUMS_8(80)
#define ROOFCAST_ALL_192 ROOFCAST_ALL_176, ROOFCAST_SUMS_8(88)
#define ROOFCAST_ALL_208 ROOFCAST_ALL_192, ROOFCAST_SUMS_8(96)
#define ROOFCAST_ALL_224 ROOFCAST_ALL_208, ROOFCAST_SUMS_8(104)
#define ROOFCAST_ALL_240 ROOFCAST_ALL_224, ROOFCAST_SUMS_8(112)
#define ROOFCAST_ALL_256 ROOFCAST_ALL_240, ROOFCAST_SUMS_8(120)

// The predicate is scale-d: false for sums that begin at 0. Then the signs of A and B, and for
// 2-byte types whether A and B are MN-major; A in registers has no order.
#define ROOFCAST_WGMMA(N, KIND, MAJOR, A, B, P, FROM_A)                                  \
  asm volatile("{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, " P                   \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #N KIND " {" ROOFCAST_NAMES_##N \
               "}, " A ", " B ", accumulate, 1, 1" MAJOR ";\n}\n"                        \
               : ROOFCAST_ALL_##N                                                        \
               : FROM_A, "l"(b), "r"(static_cast<int>(accumulate)))

#define ROOFCAST_FROM_SHARED "l"(a)
#define ROOFCAST_FROM_REGISTERS "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3])

#define ROOFCAST_WGMMA_OF_TYPE(N, A, B, P)                                             \
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) {                              \
    if constexpr (kAlongK) {                                                           \
      ROOFCAST_WGMMA(N, "k16.f32.bf16.bf16", ", 0, 0", A, B, P, ROOFCAST_FROM_SHARED); \
    } else {                                                                           \
      ROOFCAST_WGMMA(N, "k16.f32.bf16.bf16", ", 0, 1", A, B, P, ROOFCAST_FROM_SHARED); \
    }                                                                                  \
  } else if constexpr (std::is_same_v<Element, __half>) {                              \
    if constexpr (kAlongK) {                                                           \
      ROOFCAST_WGMMA(N, "k16.f32.f16.f16", ", 0, 0", A, B, P, ROOFCAST_FROM_SHARED);   \
    } else {                                                                           \
      ROOFCAST_WGMMA(N, "k16.f32.f16.f16", ", 0, 1", A, B, P, ROOFCAST_FROM_SHARED);   \
    }                                                                                  \
  } else if constexpr (std::is_same_v<Element, float>) {                               \
    ROOFCAST_WGMMA(N, "k8.f32.tf32.tf32", "", A, B, P, ROOFCAST_FROM_SHARED);          \
  } else {                                                                             \
    static_assert(std::is_same_v<Element, __nv_fp8_e4m3>);                             \
    ROOFCAST_WGMMA(N, "k32.f32.e4m3.e4m3", "", A, B, P, ROOFCAST_FROM_SHARED);         \
  }

/// sum (+)= A·B: 64 × kColumns sums of a warpgroup, kStepBytes of k. Descriptors as in layout.cuh.
/// B is K-major with kAlongK, else MN-major (2-byte types only).
template <class Element, int kColumns, bool kAlongK>
__device__ void multiply(float (&sum)[kColumns / 2], std::uint64_t a, std::uint64_t b,
                         bool accumulate) {
  static_assert(kAlongK || sizeof(Element) == 2);
  if constexpr (kColumns == 32) {
    ROOFCAST_WGMMA_OF_TYPE(32, "%16", "%17", "%18")
  } else if constexpr (kColumns == 64) {
    ROOFCAST_WGMMA_OF_TYPE(64, "%32", "%33", "%34")
  } else if constexpr (kColumns == 80) {
    ROOFCAST_WGMMA_OF_TYPE(80, "%40", "%41", "%42")
  } else if constexpr (kColumns == 96) {
    ROOFCAST_WGMMA_OF_TYPE(96, "%48", "%49", "%50")
  } else if constexpr (kColumns == 112) {
    ROOFCAST_WGMMA_OF_TYPE(112, "%56", "%57", "%58")
  } else if constexpr (kColumns == 128) {
    ROOFCAST_WGMMA_OF_TYPE(128, "%64", "%65", "%66")
  } else if constexpr (kColumns == 144) {
    ROOFCAST_WGMMA_OF_TYPE(144, "%72", "%73", "%74")
  } else if constexpr (kColumns == 160) {
    ROOFCAST_WGMMA_OF_TYPE(160, "%80", "%81", "%82")
  } else if constexpr (kColumns == 176) {
    ROOFCAST_WGMMA_OF_TYPE(176, "%88", "%89", "%90")
  } else if constexpr (kColumns == 192) {
    ROOFCAST_WGMMA_OF_TYPE(192, "%96", "%97", "%98")
  } else if constexpr (kColumns == 208) {
    ROOFCAST_WGMMA_OF_TYPE(208, "%104", "%105", "%106")
  } else if constexpr (kColumns == 224) {
    ROOFCAST_WGMMA_OF_TYPE(224, "%112", "%113", "%114")
  } else if constexpr (kColumns == 240) {
    ROOFCAST_WGMMA_OF_TYPE(240, "%120", "%121", "%122")
  } else if constexpr (kColumns == 256) {
    ROOFCAST_WGMMA_OF_TYPE(256, "%128", "%129", "%130")
  } else {
    static_assert(kColumns == 0, "add the instruction to this list");
  }
}

#define ROOFCAST_WGMMA_HELD(N, A, B, P)                                              \
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) {                            \
    ROOFCAST_WGMMA(N, "k16.f32.bf16.bf16", ", 1", A, B, P, ROOFCAST_FROM_REGISTERS); \
  } else {                                                                           \
    static_assert(std::is_same_v<Element, __half>);                                  \
    ROOFCAST_WGMMA(N, "k16.f32.f16.f16", ", 1", A, B, P, ROOFCAST_FROM_REGISTERS);   \
  }

/// The same with A in registers, laid out as for mma.m16n8k16 in each of the four warps, and B
/// MN-major. The registers may not change until the products are complete.
template <class Element, int kColumns>
__device__ void multiply_held(float (&sum)[kColumns / 2], const std::uint32_t (&a)[4],
                              std::uint64_t b, bool accumulate) {
  if constexpr (kColumns == 64) {
    ROOFCAST_WGMMA_HELD(64, "{%32, %33, %34, %35}", "%36", "%37")
  } else if constexpr (kColumns == 128) {
    ROOFCAST_WGMMA_HELD(128, "{%64, %65, %66, %67}", "%68", "%69")
  } else if constexpr (kColumns == 256) {
    ROOFCAST_WGMMA_HELD(256, "{%128, %129, %130, %131}", "%132", "%133")
  } else {
    static_assert(kColumns == 0, "add the instruction to this list");
  }
}

#undef ROOFCAST_WGMMA_HELD
#undef ROOFCAST_WGMMA_OF_TYPE
#undef ROOFCAST_FROM_REGISTERS
#undef ROOFCAST_FROM_SHARED
#undef ROOFCAST_WGMMA
#undef ROOFCAST_ALL_256
#undef ROOFCAST_ALL_240
#undef ROOFCAST_ALL_224
#undef ROOFCAST_ALL_208
#undef ROOFCAST_ALL_192
#undef ROOFCAST_ALL_176
#undef ROOFCAST_ALL_160
#undef ROOFCAST_ALL_144
#undef ROOFCAST_ALL_128
#undef ROOFCAST_ALL_112
#undef ROOFCAST_ALL_96
#undef ROOFCAST_ALL_80
#undef ROOFCAST_ALL_64
#undef ROOFCAST_ALL_48
#undef ROOFCAST_ALL_32
#undef ROOFCAST_ALL_16
#undef ROOFCAST_NAMES_256
#undef ROOFCAST_NAMES_240
#undef ROOFCAST_NAMES_224
#undef ROOFCAST_NAMES_208
#undef ROOFCAST_NAMES_192
#undef ROOFCAST_NAMES_176
#undef ROOFCAST_NAMES_160
#undef ROOFCAST_NAMES_144
#undef ROOFCAST_NAMES_128
#undef ROOFCAST_NAMES_112
#undef ROOFCAST_NAMES_96
#undef ROOFCAST_NAMES_80
#undef ROOFCAST_NAMES_64
#undef ROOFCAST_NAMES_48
#undef ROOFCAST_NAMES_32
#undef ROOFCAST_NAMES_16
#undef ROOFCAST_SUMS_8

}  // namespace roofcast::cuda::gemm
