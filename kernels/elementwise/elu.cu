// elu(x) = x if x > 0, else exp(x) - 1 (Clevert, Unterthiner, Hochreiter 2015, α = 1).
//
// Accesses of n elements:  launches   reads   writes
//   fused                      1         1        1
//   unfused                    5         6        5     relu(x) + min(exp(x) - 1, 0)
#include "kernels/common/exponential.cuh"
#include "kernels/elementwise/chain.cuh"
#include "kernels/elementwise/operations.cuh"

namespace roofcast::cuda::elementwise {
namespace {

struct Elu {
  static constexpr int kInputs = 1;
  template <class C>
  __device__ C operator()(C x) const {
    return x > C{0} ? x : expm1(x);
  }
};

// For 16-bit types. Near 0, where exp(x) - 1 cancels, x + x²/2 has a relative error of
// x²/6 < 2^-15.
struct Elu16 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const {
    constexpr float kNear = -0.01f;
    const float below = x > kNear ? fmaf(0.5f * x, x, x) : exp2_of(kLog2E * x) - 1.0f;
    return x > 0.0f ? x : below;
  }
};

struct Exp {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return expf(x); }
};
struct Exp16 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return exp2_of(kLog2E * x); }
};
struct MinusOne {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return x - 1.0f; }
};
struct Min0 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return x > 0.0f ? 0.0f : x; }
};

constexpr std::array<CompiledFor, 5> kSteps = {compiled<Relu>, compiled<Exp, Exp16>,
                                               compiled<MinusOne>, compiled<Min0>, compiled<Add>};

}  // namespace

std::vector<KernelEntry> elu() {
  return {fused<Elu, compiled<Elu, Elu16>, Rounding::once>("elementwise.elu.fused"),
          unfused<Elu, roofcast::elementwise::kEluUnfused, kSteps, Rounding::each>(
              "elementwise.elu.unfused")};
}

}  // namespace roofcast::cuda::elementwise
