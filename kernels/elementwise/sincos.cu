// sin²x + cos²x: two special functions of one argument. A fused kernel reduces the angle once for
// both.
//
// Accesses of n elements:  launches   reads   writes
//   fused                      1         1        1
//   unfused                    5         6        5     sin, square, cos, square, add
#include "kernels/elementwise/chain.cuh"
#include "kernels/elementwise/operations.cuh"

namespace roofcast::cuda::elementwise {
namespace {

// fp32: sincosf of the CUDA library, within 1 ulp: a reduction by π/2, polynomials, and a slow path
// beyond |x| = 105615. It takes about 35 instructions for both. Issue becomes the limit at 62
// instructions an element (8 B read and written at 4.3 TB/s, 132 SMs of 128 lanes).
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

// In 16-bit types issue becomes the limit at 31 instructions, and rounding hides the error of the
// special-function unit, 2^-21 inside ±π. So the angle loses its whole turns (adding and
// subtracting 1.5·2^23 rounds to the nearest integer; 2π is subtracted in two parts), then the
// unit computes sine and cosine. Correct for |x| < 2^17, which covers fp16.
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
