#pragma once
// Exponentials of scores, with base 2: e^((s - max)·scale) = 2^((s - max)·scale·log2 e), one
// multiply-add and one instruction.
#include <cmath>

#include "kernels/common/rows.cuh"

namespace roofcast::cuda::attention {

inline constexpr float kLog2E = 1.4426950408889634F;

/// ex2.approx: relative error 2^-22.
__device__ inline float exp2_of(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

/// The maximum to subtract, finite so that a row that saw no key has the sum 0, not NaN.
__device__ inline float anchor(float max) {
  return max == -INFINITY ? 0.0F : max;
}

}  // namespace roofcast::cuda::attention
