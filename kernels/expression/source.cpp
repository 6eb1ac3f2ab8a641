#include "kernels/expression/source.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "model/kernels/common/map_registers.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

// Elements as they are stored, one and two of them in a 32-bit word.
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

// One instruction each. ex2, rcp, rsqrt: relative error 2^-22 to 2^-23.
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
)";

// fp32: the functions of the CUDA library, within 2 ulp.
constexpr std::string_view kAccurate = R"(
__device__ float exp_of(float x) { return expf(x); }
__device__ float log_of(float x) { return logf(x); }
__device__ float sqrt_of(float x) { return sqrtf(x); }
__device__ float sin_of(float x) { return sinf(x); }
__device__ float cos_of(float x) { return cosf(x); }
__device__ float quotient(float a, float b) { return a / b; }
)";

// 16-bit types: by the special-function unit. Sine and cosine first take whole turns off (2 pi in
// two parts; right for |x| < 2^17).
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
)";

// The head and the tail that are no whole vector go one element a thread, as in map.cuh.
constexpr std::string_view kKernels = R"(
struct Inputs { const Element* at[kInputs]; };
constexpr int kWords = kVectorBytes / 4;
constexpr int kWidth = kWords * kPerWord;
template <int kCount> struct Load;
template <> struct Load<1> { typedef unsigned Type; };
template <> struct Load<2> { typedef uint2 Type; };
template <> struct Load<4> { typedef uint4 Type; };
typedef Load<kWords>::Type Wide;
union Vector { Wide wide; unsigned word[kWords]; };

__device__ Element one(const Inputs& in, long long i) {
  float x[kInputs];
#pragma unroll
  for (int k = 0; k < kInputs; ++k) x[k] = widen(in.at[k][i]);
  return narrow(expression(x));
}

extern "C" __global__ __launch_bounds__(kThreads, kMinBlocks)
void map_vectors(Inputs in, Element* __restrict__ out, long long n) {
  const int past = (int)((unsigned long long)out % kVectorBytes);
  const long long to_boundary = (kVectorBytes - past) % kVectorBytes / sizeof(Element);
  const long long head = n < to_boundary ? n : to_boundary;
  const long long vectors = (n - head) / kWidth;
  const long long first = (long long)blockIdx.x * kThreads * kLoads + threadIdx.x;
  const bool whole = first + (long long)(kLoads - 1) * kThreads < vectors;

  Vector x[kInputs][kLoads];
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const long long at = first + (long long)i * kThreads;
    if (whole || at < vectors) {
#pragma unroll
      for (int k = 0; k < kInputs; ++k) {
        x[k][i].wide = __ldg(reinterpret_cast<const Wide*>(in.at[k] + head) + at);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const long long at = first + (long long)i * kThreads;
    if (whole || at < vectors) {
      Vector y;
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        float lows[kInputs], highs[kInputs];
#pragma unroll
        for (int k = 0; k < kInputs; ++k) {
          lows[k] = low(x[k][i].word[w]);
          highs[k] = high(x[k][i].word[w]);
        }
        y.word[w] = pack(expression(lows), kPerWord == 2 ? expression(highs) : 0.0f);
      }
      reinterpret_cast<Wide*>(out + head)[at] = y.wide;
    }
  }

  const long long tail = head + vectors * kWidth + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < head) out[threadIdx.x] = one(in, threadIdx.x);
  if (blockIdx.x == gridDim.x - 1 && tail < n) out[tail] = one(in, tail);
}

extern "C" __global__ __launch_bounds__(kThreads)
void map_scalar(Inputs in, Element* __restrict__ out, long long n) {
  long long i = (long long)blockIdx.x * kThreads * kWidth * kLoads + threadIdx.x;
  for (int e = 0; e < kWidth * kLoads; ++e, i += kThreads) {
    if (i < n) out[i] = one(in, i);
  }
}
)";

// Bits, so that every number arrives as it is.
std::string number(double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "__uint_as_float(0x%08xu)",
                      std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return text.data();
}

std::string call(std::string_view function, const std::string& a) {
  return std::string(function) + "(" + a + ")";
}
std::string call(std::string_view function, const std::string& a, const std::string& b) {
  return std::string(function) + "(" + a + ", " + b + ")";
}

// Powers that an eager framework special-cases as well (PyTorch, pow with a scalar exponent).
std::string power(const Expression& e, const Node& node, const std::string& a,
                  const std::string& b) {
  if (e.nodes[node.b].op == Op::number) {
    const double exponent = e.nodes[node.b].value;
    if (exponent == 2) return a + " * " + a;
    if (exponent == 3) return a + " * " + a + " * " + a;
    if (exponent == 0.5) return call("sqrt_of", a);
    if (exponent == -0.5) return call("unit_rsqrt", a);
    if (exponent == -1) return call("quotient", "1.0f", a);
    if (exponent == -2) return call("quotient", "1.0f", a + " * " + a);
  }
  return call("powf", a, b);
}

std::string value_of(const Expression& e, const Node& node) {
  const auto value = [](std::uint8_t at) { return "t" + std::to_string(at); };
  const std::string a = value(node.a), b = value(node.b);
  switch (node.op) {
    case Op::input:
      return "x[" + std::to_string(node.a) + "]";
    case Op::number:
      return number(node.value);
    case Op::negate:
      return "-" + a;
    case Op::add:
      return a + " + " + b;
    case Op::subtract:
      return a + " - " + b;
    case Op::multiply:
      return a + " * " + b;
    case Op::divide:
      return call("quotient", a, b);
    case Op::power:
      return power(e, node, a, b);
    case Op::exp:
      return call("exp_of", a);
    case Op::log:
      return call("log_of", a);
    case Op::sqrt:
      return call("sqrt_of", a);
    case Op::rsqrt:
      return call("unit_rsqrt", a);
    case Op::sin:
      return call("sin_of", a);
    case Op::cos:
      return call("cos_of", a);
    case Op::tanh:
      return call("tanh_of", a);
    case Op::sigmoid:
      return call("sigmoid_of", a);
    case Op::relu:
      return call("most", a, "0.0f");
    case Op::abs:
      return call("fabsf", a);
    case Op::min:
      return call("least", a, b);
    case Op::max:
      return call("most", a, b);
  }
  return a;
}

std::string function_of(const Expression& e) {
  std::string text = "__device__ float expression(const float (&x)[kInputs]) {\n";
  for (std::size_t i = 0; i < e.nodes.size(); ++i) {
    text += "  const float t" + std::to_string(i) + " = " + value_of(e, e.nodes[i]) + ";\n";
  }
  return text + "  return t" + std::to_string(e.nodes.size() - 1) + ";\n}\n";
}

std::string constant(std::string_view name, int value) {
  return "constexpr int " + std::string(name) + " = " + std::to_string(value) + ";\n";
}

}  // namespace

// So many that the compiler keeps to the registers that the model counts with.
int min_blocks(int inputs, const Configuration& c) {
  constexpr std::int64_t kRegistersOfAnSm = 65536;
  const std::int64_t registers =
      roofcast::map::generated_registers(c.dtype, inputs, c.vector_bytes, c.loads);
  return static_cast<int>(std::max<std::int64_t>(1, kRegistersOfAnSm / (registers * c.threads)));
}

std::string source(const Expression& expression, const Configuration& configuration) {
  const Expression shared = expression::share(expression::fold(expression));
  const int inputs = static_cast<int>(shared.inputs.size());
  std::string text = constant("kInputs", inputs) + constant("kThreads", configuration.threads) +
                     constant("kMinBlocks", min_blocks(inputs, configuration)) +
                     constant("kVectorBytes", configuration.vector_bytes) +
                     constant("kLoads", configuration.loads);
  text += configuration.dtype == DType::fp32   ? kFp32
          : configuration.dtype == DType::fp16 ? kFp16
                                               : kBf16;
  text += kFunctions;
  text += configuration.dtype == DType::fp32 ? kAccurate : kByTheUnit;
  text += function_of(shared);
  text += kKernels;
  return text;
}

}  // namespace roofcast::cuda::expr
