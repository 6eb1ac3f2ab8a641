#pragma once
// e^x = 2^(x·log2 e): a multiply, which may be fused into an addition before it, and one ex2.
#include <cmath>
#include <numbers>

namespace roofcast::cuda {

inline constexpr float kLog2E = std::numbers::log2e_v<float>;

/// ex2.approx: relative error 2^-22; results below the smallest normal number become 0.
__device__ inline float exp2_of(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

/// rcp.approx: relative error 2^-23, 1 ulp.
__device__ inline float reciprocal_of(float x) {
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

/// The maximum to subtract from exponents: 0 in place of -inf, so that a sum over nothing but -inf
/// is 0, not NaN.
__device__ inline float anchor(float max) {
  return max == -INFINITY ? 0.0F : max;
}

}  // namespace roofcast::cuda
