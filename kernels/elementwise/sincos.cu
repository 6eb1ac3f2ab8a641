// sin²x + cos²x: two special functions of one argument; whoever shares the reduction of the angle
// wins.
//
// Accesses of n elements:  launches   reads   writes
//   fused                      1         1        1
//   unfused                    5         6        5     sin, square, cos, square, add
#include "kernels/elementwise/chain.cuh"
#include "kernels/elementwise/operations.cuh"

namespace roofcast::cuda::elementwise {
namespace {

// fp32: sinf and cosf of the CUDA library, within 1 ulp: a reduction by π/2, polynomials, and a
// slow path beyond |x| = 105615. 4 B a result leave 62 instructions an element before issue binds
// (4.3 TB/s, 8 B, 132 SMs of 128 lanes); the two together take about 35.
struct Sincos {
  static constexpr int kInputs = 1;
  __device__ double operator()(double x) const { return square(sin(x)) + square(cos(x)); }
  __device__ float operator()(float x) const {
    float sine = 0, cosine = 0;
    sincosf(x, &sine, &cosine);
    return fmaf(sine, sine, cosine * cosine);
  }

 private:
  template <class C>
  __device__ static C square(C x) {
    return x * x;
  }
};

// 16-bit types leave 31 instructions, and their rounding hides the error of the special-function
// unit, 2^-21 inside ±π. So: take whole turns off (adding and subtracting 1.5·2^23 rounds to the
// nearest; 2π in two parts), then one instruction each. Right for |x| < 2^17, all of fp16.
__device__ float without_turns(float x) {
  constexpr float kRound = 12582912.0f;
  constexpr float kPerTurn = 0.15915494f;
  constexpr float kTurnHigh = 6.28125f, kTurnLow = 1.9353072e-3f;
  const float turns = fmaf(x, kPerTurn, kRound) - kRound;
  return fmaf(turns, -kTurnLow, fmaf(turns, -kTurnHigh, x));
}

struct Sincos16 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const {
    const float angle = without_turns(x);
    const float sine = __sinf(angle), cosine = __cosf(angle);
    return fmaf(sine, sine, cosine * cosine);
  }
};

struct Sin {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return sinf(x); }
};
struct Sin16 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return __sinf(without_turns(x)); }
};
struct Cos {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return cosf(x); }
};
struct Cos16 {
  static constexpr int kInputs = 1;
  __device__ float operator()(float x) const { return __cosf(without_turns(x)); }
};

constexpr std::array<CompiledFor, 5> kSteps = {
    compiled<Sin, Sin16>, compiled<Square>, compiled<Cos, Cos16>, compiled<Square>, compiled<Add>};

}  // namespace

std::vector<KernelEntry> sincos() {
  return {fused<Sincos, compiled<Sincos, Sincos16>, Rounding::once>("elementwise.sincos.fused"),
          unfused<Sincos, roofcast::elementwise::kSincosUnfused, kSteps, Rounding::each>(
              "elementwise.sincos.unfused")};
}

}  // namespace roofcast::cuda::elementwise
