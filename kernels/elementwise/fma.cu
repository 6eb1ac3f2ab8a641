// a·b + c: one fused multiply-add, three arrays in.
//
// Accesses of n elements:  launches   reads   writes
//   fused                      1         3        1
//   unfused                    2         4        2     multiply, add
#include "kernels/elementwise/chain.cuh"
#include "kernels/elementwise/operations.cuh"

namespace roofcast::cuda::elementwise {
namespace {

struct Fma {
  static constexpr int kInputs = 3;
  __device__ double operator()(double a, double b, double c) const { return ::fma(a, b, c); }
  __device__ float operator()(float a, float b, float c) const { return fmaf(a, b, c); }
};

constexpr std::array<CompiledFor, 2> kSteps = {compiled<Multiply>, compiled<Add>};

}  // namespace

std::vector<KernelEntry> fma() {
  return {fused<Fma, compiled<Fma>, Rounding::once>("elementwise.fma.fused"),
          unfused<Fma, roofcast::elementwise::kFmaUnfused, kSteps, Rounding::each>(
              "elementwise.fma.unfused")};
}

}  // namespace roofcast::cuda::elementwise
