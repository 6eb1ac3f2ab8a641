#pragma once
// What the functions of this folder are made of.
#include <cuda_runtime.h>

namespace roofcast::cuda::elementwise {

// Special functions as one instruction each: relative error 2^-22 and 1 ulp; results below the
// smallest normal number become 0, which the functions that use them turn into their own limits.
__device__ inline float exp2_fast(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ inline float reciprocal_fast(float x) {
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

inline constexpr double kLog2E = 1.4426950408889634;

struct Multiply {
  static constexpr int kInputs = 2;
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct Square {
  static constexpr int kInputs = 1;
  __device__ float operator()(float a) const { return a * a; }
};
struct Add {
  static constexpr int kInputs = 2;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Relu {  // NaN kept
  static constexpr int kInputs = 1;
  template <class C>
  __device__ C operator()(C x) const {
    return x < C{0} ? C{0} : x;
  }
};

}  // namespace roofcast::cuda::elementwise
