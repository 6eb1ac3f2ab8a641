#pragma once
// Forms of wgmma.mma_async that kernels/gemm/wgmma_instruction.cuh lacks: A from registers, and
// 32 columns. PTX ISA, "wgmma.mma_async"; what is said there of names and text holds here.
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/wgmma_instruction.cuh"

namespace roofcast::cuda::attention::flash3_backward {

#define ROOFCAST_SUMS_8(i)                                                              \
  "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]), \
      "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define ROOFCAST_SUMS_32(i) \
  ROOFCAST_SUMS_8(i), ROOFCAST_SUMS_8(i + 8), ROOFCAST_SUMS_8(i + 16), ROOFCAST_SUMS_8(i + 24)

#define ROOFCAST_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define ROOFCAST_NAMES_32 \
  ROOFCAST_NAMES_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ROOFCAST_NAMES_64                                                              \
  ROOFCAST_NAMES_32                                                                    \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ROOFCAST_NAMES_128                                                                     \
  ROOFCAST_NAMES_64                                                                            \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "         \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "           \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "     \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, " \
  "%126, %127"

// Always accumulates. The signs of A and B, then that B is MN-major.
#define ROOFCAST_WGMMA_REGISTERS(N, TYPE, NAMES, A, B, ...)                                       \
  asm volatile(                                                                                   \
      "{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, 1, 0;\n"                                \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE " {" NAMES "}, {" A "}, " B \
      ", accumulate, 1, 1, 1;\n}\n"                                                               \
      : __VA_ARGS__                                                                               \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
#define ROOFCAST_WGMMA_REGISTERS_OF_TYPE(N, ...)          \
  if constexpr (std::is_same_v<Element, __nv_bfloat16>) { \
    ROOFCAST_WGMMA_REGISTERS(N, "bf16", __VA_ARGS__);     \
  } else {                                                \
    static_assert(std::is_same_v<Element, __half>);       \
    ROOFCAST_WGMMA_REGISTERS(N, "f16", __VA_ARGS__);      \
  }

/// sum += A·B: 64 × kColumns sums of a warpgroup, 16 of k. A as mma.m16n8k16 takes it, the rows of
/// warp w from 16·w on; B is MN-major.
template <class Element, int kColumns>
__device__ void multiply_registers(float (&sum)[kColumns / 2], const unsigned (&a)[4],
                                   std::uint64_t b) {
  if constexpr (kColumns == 64) {
    ROOFCAST_WGMMA_REGISTERS_OF_TYPE(64, ROOFCAST_NAMES_32, "%32, %33, %34, %35", "%36",
                                     ROOFCAST_SUMS_32(0))
  } else if constexpr (kColumns == 128) {
    ROOFCAST_WGMMA_REGISTERS_OF_TYPE(128, ROOFCAST_NAMES_64, "%64, %65, %66, %67", "%68",
                                     ROOFCAST_SUMS_32(0), ROOFCAST_SUMS_32(32))
  } else {
    static_assert(kColumns == 256, "add the instruction to this list");
    ROOFCAST_WGMMA_REGISTERS_OF_TYPE(256, ROOFCAST_NAMES_128, "%128, %129, %130, %131", "%132",
                                     ROOFCAST_SUMS_32(0), ROOFCAST_SUMS_32(32),
                                     ROOFCAST_SUMS_32(64), ROOFCAST_SUMS_32(96))
  }
}

#define ROOFCAST_WGMMA_32(TYPE)                                                          \
  asm volatile(                                                                          \
      "{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, %18, 0;\n"                     \
      "wgmma.mma_async.sync.aligned.m64n32k16.f32." TYPE "." TYPE " {" ROOFCAST_NAMES_16 \
      "}, %16, %17, accumulate, 1, 1, 0, 0;\n}\n"                                        \
      : ROOFCAST_SUMS_8(0), ROOFCAST_SUMS_8(8)                                           \
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))

/// sum (+)= A·B, 16 of k, both K-major in shared memory.
template <class Element, int kColumns>
__device__ void multiply_along_k(float (&sum)[kColumns / 2], std::uint64_t a, std::uint64_t b,
                                 bool accumulate) {
  if constexpr (kColumns != 32) {
    gemm::multiply<Element, kColumns, true>(sum, a, b, accumulate);
  } else if constexpr (std::is_same_v<Element, __nv_bfloat16>) {
    ROOFCAST_WGMMA_32("bf16");
  } else {
    static_assert(std::is_same_v<Element, __half>);
    ROOFCAST_WGMMA_32("f16");
  }
}

#undef ROOFCAST_WGMMA_32
#undef ROOFCAST_WGMMA_REGISTERS_OF_TYPE
#undef ROOFCAST_WGMMA_REGISTERS
#undef ROOFCAST_NAMES_128
#undef ROOFCAST_NAMES_64
#undef ROOFCAST_NAMES_32
#undef ROOFCAST_NAMES_16
#undef ROOFCAST_SUMS_32
#undef ROOFCAST_SUMS_8

}  // namespace roofcast::cuda::attention::flash3_backward
