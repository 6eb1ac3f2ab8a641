// relu, and gelu by its tanh approximation (Hendrycks, Gimpel 2016).
//
//   relu(x) = max(x, 0), NaN kept
//   gelu(x) = 0.5·x·(1 + tanh(u)),  u = 0.79788456·(x + 0.044715·x³)
//
// Accesses of n elements of the element type:
//              launches   reads   writes
//   fused          1         1        1
//   relu unfused   1         1        1     a single operation: the fused kernel is the unfused one
//   gelu unfused   9        12        9     at best 2/21 of the fused speed, once the
//                                           intermediates no longer fit in L2
// kernels/common/map.cuh has the kernel around the function.
#include <numbers>

#include "kernels/common/exponential.cuh"
#include "kernels/elementwise/chain.cuh"
#include "kernels/elementwise/operations.cuh"

namespace roofcast::cuda::elementwise {
namespace {

constexpr double kCubic = 0.044715;
constexpr double kSlope = 0.79788456;

// In fp16 GELU moves 4 bytes an element: at 4.3 TB/s each of 132 SMs must finish 4.1 elements a
// clock, with 128 fp32 lanes and 16 special-function results a clock. tanhf costs about 20
// instructions and a branch. But half of 1 + tanh u is the logistic function of 2u, so
//   gelu(x) = x / (1 + 2^(-2u·log2 e)) = x / (1 + 2^(x·(c1 + c3·x²))):
// 5 multiplies and adds and 2 special functions, and no cancellation for negative x.
struct Gelu {
  static constexpr int kInputs = 1;
  __device__ double operator()(double x) const {
    return 0.5 * x * (1 + tanh(kSlope * (x + kCubic * x * x * x)));
  }
  __device__ float operator()(float x) const {
    constexpr auto c1 = static_cast<float>(-2 * std::numbers::log2e * kSlope);
    constexpr auto c3 = static_cast<float>(-2 * std::numbers::log2e * kSlope * kCubic);
    return x * reciprocal_of(1.0f + exp2_of(x * fmaf(c3, x * x, c1)));
  }
};

// Steps that only the unfused GELU has.
struct AddOne {
  static constexpr int kInputs = 1;
  __device__ float operator()(float a) const { return 1.0f + a; }
};
struct TimesCubic {
  static constexpr int kInputs = 1;
  __device__ float operator()(float a) const { return static_cast<float>(kCubic) * a; }
};
struct TimesSlope {
  static constexpr int kInputs = 1;
  __device__ float operator()(float a) const { return static_cast<float>(kSlope) * a; }
};
struct Half {
  static constexpr int kInputs = 1;
  __device__ float operator()(float a) const { return 0.5f * a; }
};
struct Tanh {  // 1 - 2 / (1 + exp 2u): absolute error about 2^-22, that of the two approximations
  static constexpr int kInputs = 1;
  __device__ float operator()(float u) const {
    constexpr auto c = 2 * kLog2E;
    return 1.0f - 2.0f * reciprocal_of(1.0f + exp2_of(c * u));
  }
};

constexpr std::array<CompiledFor, 1> kReluSteps = {compiled<Relu>};
constexpr std::array<CompiledFor, 9> kGeluSteps = {
    compiled<Square>, compiled<Multiply>,   compiled<TimesCubic>,
    compiled<Add>,    compiled<TimesSlope>, compiled<Tanh>,
    compiled<AddOne>, compiled<Half>,       compiled<Multiply>};

}  // namespace

std::vector<KernelEntry> relu() {
  return {fused<Relu, compiled<Relu>, Rounding::none>("elementwise.relu.fused"),
          unfused<Relu, roofcast::elementwise::kReluUnfused, kReluSteps, Rounding::none>(
              "elementwise.relu.unfused")};
}

std::vector<KernelEntry> gelu() {
  return {fused<Gelu, compiled<Gelu>, Rounding::once>("elementwise.gelu.fused"),
          unfused<Gelu, roofcast::elementwise::kGeluUnfused, kGeluSteps, Rounding::each>(
              "elementwise.gelu.unfused")};
}

}  // namespace roofcast::cuda::elementwise
