#include "kernels/expression/prelude.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "model/kernels/common/map.hpp"

namespace roofcast::cuda::expr {
namespace {

// The stored type of elements, and the conversions of the one or two of them in a 32-bit word.
constexpr std::string_view kFp32 = R"(
typedef float Element;
constexpr int kPerWord = 1;
__device__ float low(unsigned word) { return __uint_as_float(word); }
__device__ float high(unsigned) { return 0; }
__device__ unsigned pack(float low, float) { return __float_as_uint(low); }
__device__ float widen(Element x) { return x; }
__device__ Element narrow(float x) { return x; }
)";
constexpr std::string_view kFp16 = R"(
typedef unsigned short Element;
constexpr int kPerWord = 2;
__device__ float widen(Element x) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x));
  return wide;
}
__device__ float low(unsigned word) { return widen((Element)word); }
__device__ float high(unsigned word) { return widen((Element)(word >> 16)); }
__device__ unsigned pack(float low, float high) {
  unsigned word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ Element narrow(float x) { return (Element)pack(x, 0); }
)";
constexpr std::string_view kBf16 = R"(
typedef unsigned short Element;
constexpr int kPerWord = 2;
__device__ float low(unsigned word) { return __uint_as_float(word << 16); }
__device__ float high(unsigned word) { return __uint_as_float(word & 0xffff0000u); }
__device__ float widen(Element x) { return low(x); }
__device__ unsigned pack(float low, float high) {
  unsigned word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ Element narrow(float x) { return (Element)pack(x, 0); }
)";

// unit_*: one PTX instruction each; ex2, rcp and rsqrt have a relative error of 2^-22 to 2^-23.
constexpr std::string_view kFunctions = R"(
__device__ float unit_ex2(float x) { asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_lg2(float x) { asm("lg2.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_rcp(float x) { asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_sqrt(float x) { asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_rsqrt(float x) { asm("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_sin(float x) { asm("sin.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
__device__ float unit_cos(float x) { asm("cos.approx.ftz.f32 %0, %0;" : "+f"(x)); return x; }
// A NaN operand is kept, as an eager framework keeps it.
__device__ float least(float a, float b) {
  asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
__device__ float most(float a, float b) {
  asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
  return a;
}
// 1 - 2 / (1 + exp 2x), and 1 / (1 + exp -x).
__device__ float tanh_of(float x) {
  return 1.0f - 2.0f * unit_rcp(1.0f + unit_ex2(2.885390082f * x));
}
__device__ float sigmoid_of(float x) { return unit_rcp(1.0f + unit_ex2(-1.442695041f * x)); }
__device__ float silu_of(float x) { return x * sigmoid_of(x); }
)";

// Functions in fp32: those of the CUDA library, within 2 ulp.
constexpr std::string_view kAccurate = R"(
__device__ float exp_of(float x) { return expf(x); }
__device__ float log_of(float x) { return logf(x); }
__device__ float sqrt_of(float x) { return sqrtf(x); }
__device__ float sin_of(float x) { return sinf(x); }
__device__ float cos_of(float x) { return cosf(x); }
__device__ float quotient(float a, float b) { return a / b; }
__device__ float erf_of(float x) { return erff(x); }
)";

// Functions in 16-bit types, by the special-function unit. Sine and cosine first subtract whole
// turns (2 pi in two parts; correct for |x| < 2^17). The error function is Abramowitz and Stegun's
// 7.1.26, whose error is below 1.5e-7.
constexpr std::string_view kByTheUnit = R"(
__device__ float without_turns(float x) {
  const float turns = fmaf(x, 0.15915494f, 12582912.0f) - 12582912.0f;
  return fmaf(turns, -1.9353072e-3f, fmaf(turns, -6.28125f, x));
}
__device__ float exp_of(float x) { return unit_ex2(1.442695041f * x); }
__device__ float log_of(float x) { return 0.6931471806f * unit_lg2(x); }
__device__ float sqrt_of(float x) { return unit_sqrt(x); }
__device__ float sin_of(float x) { return unit_sin(without_turns(x)); }
__device__ float cos_of(float x) { return unit_cos(without_turns(x)); }
__device__ float quotient(float a, float b) { return a * unit_rcp(b); }
__device__ float erf_of(float x) {
  const float t = unit_rcp(fmaf(0.3275911f, fabsf(x), 1.0f));
  float sum = fmaf(1.061405429f, t, -1.453152027f);
  sum = fmaf(sum, t, 1.421413741f);
  sum = fmaf(sum, t, -0.284496736f);
  sum = fmaf(sum, t, 0.254829592f);
  return copysignf(fmaf(-sum * t, unit_ex2(-1.442695041f * x * x), 1.0f), x);
}
)";

constexpr std::string_view kVectors = R"(
struct Inputs { const Element* at[kInputs]; };
struct Outputs { Element* at[kOutputs]; };
constexpr int kWords = kVectorBytes / 4;
constexpr int kWidth = kWords * kPerWord;
template <int kCount> struct Load;
template <> struct Load<1> { typedef unsigned Type; };
template <> struct Load<2> { typedef uint2 Type; };
template <> struct Load<4> { typedef uint4 Type; };
typedef Load<kWords>::Type Wide;
union Vector { Wide wide; unsigned word[kWords]; };
)";

}  // namespace

std::string constant(std::string_view name, std::int64_t value) {
  return "constexpr int " + std::string(name) + " = " + std::to_string(value) + ";\n";
}

std::string prelude(const Configuration& configuration, int inputs, int outputs, int threads,
                    int min_blocks) {
  std::string text = constant("kInputs", inputs) + constant("kOutputs", outputs) +
                     constant("kThreads", threads) + constant("kMinBlocks", min_blocks) +
                     constant("kVectorBytes", configuration.vector_bytes) +
                     constant("kLoads", configuration.loads);
  text += configuration.dtype == DType::fp32   ? kFp32
          : configuration.dtype == DType::fp16 ? kFp16
                                               : kBf16;
  text += kFunctions;
  text += configuration.dtype == DType::fp32 ? kAccurate : kByTheUnit;
  text += kVectors;
  return text;
}

int min_blocks(int vectors_waiting, int threads, const Configuration& configuration) {
  constexpr std::int64_t kRegistersOfAnSm = 65536;
  const std::int64_t registers = roofcast::map::generated_registers(
      configuration.dtype, vectors_waiting, configuration.vector_bytes, configuration.loads);
  return static_cast<int>(std::max<std::int64_t>(1, kRegistersOfAnSm / (registers * threads)));
}

}  // namespace roofcast::cuda::expr
