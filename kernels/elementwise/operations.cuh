#pragma once
// Operations that several functions of this folder use.
#include <cuda_runtime.h>

namespace roofcast::cuda::elementwise {

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
