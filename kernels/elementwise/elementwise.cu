// Activation functions, as one kernel (fused) and as an eager framework runs them (unfused: one
// kernel an operation, every intermediate stored in the element type and read again).
//
//   relu(x) = max(x, 0), NaN kept
//   gelu(x) = 0.5·x·(1 + tanh(u)),  u = 0.79788456·(x + 0.044715·x³)        (Hendrycks, Gimpel
//   2016)
//
// Accesses of n elements of the element type:
//              launches   reads   writes
//   fused          1         1        1
//   relu unfused   1         1        1     a single operation: the fused kernel is the unfused one
//   gelu unfused   9        12        9     so at best 2/21 of the fused speed, once the
//                                           intermediates no longer fit in L2
// The skeleton: kernels/common/map.cuh.
#include "kernels/elementwise/elementwise.hpp"

#include <array>

#include "kernels/common/map.cuh"
#include "model/kernels/elementwise.hpp"

namespace roofcast::cuda::elementwise {
namespace {

static_assert(std::size_t{roofcast::elementwise::kElements} == map::kElements &&
              std::size_t{roofcast::elementwise::kThreads} == map::kThreads &&
              std::size_t{roofcast::elementwise::kVectorBytes} == map::kVectorBytes &&
              std::size_t{roofcast::elementwise::kLoads} == map::kLoads);

constexpr double kCubic = 0.044715;
constexpr double kSlope = 0.79788456;

struct Relu {
  static constexpr int kInputs = 1;
  template <class C>
  __device__ C operator()(C x) const {
    return x < C{0} ? C{0} : x;
  }
};

// The two special functions as one instruction each: relative error 2^-22 and 1 ulp; results below
// the smallest normal number become 0, which the functions below turn into their own limits.
__device__ float exp2_fast(float x) {
  asm("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}
__device__ float reciprocal_fast(float x) {
  asm("rcp.approx.ftz.f32 %0, %0;" : "+f"(x));
  return x;
}

// A GELU of fp16 has 4 bytes an element: at 4.3 TB/s each multiprocessor must finish 4.1 elements a
// clock, and it has 128 fp32 lanes and 16 special-function results a clock for them. tanhf costs
// about 20 instructions and a branch. But half of 1 + tanh u is the logistic function of 2u, so
//   gelu(x) = x / (1 + 2^(-2u·log2 e)) = x / (1 + 2^(x·(c1 + c3·x²))):
// 5 multiplies and adds and 2 special functions, and no cancellation for negative x.
constexpr double kLog2E = 1.4426950408889634;

struct Gelu {
  static constexpr int kInputs = 1;
  __device__ double operator()(double x) const {
    return 0.5 * x * (1 + tanh(kSlope * (x + kCubic * x * x * x)));
  }
  __device__ float operator()(float x) const {
    constexpr auto c1 = static_cast<float>(-2 * kLog2E * kSlope);
    constexpr auto c3 = static_cast<float>(-2 * kLog2E * kSlope * kCubic);
    return x * reciprocal_fast(1.0f + exp2_fast(x * fmaf(c3, x * x, c1)));
  }
};

// The steps of the unfused GELU.
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
struct Tanh {  // 1 - 2 / (1 + exp 2u): absolute error near one unit of fp32 roundoff
  static constexpr int kInputs = 1;
  __device__ float operator()(float u) const {
    constexpr auto c = static_cast<float>(2 * kLog2E);
    return 1.0f - 2.0f * reciprocal_fast(1.0f + exp2_fast(c * u));
  }
};

template <class Op>
std::span<const map::Compiled> compiled(DType dtype) {
  switch (dtype) {
    case DType::fp16:
      return map::all_compiled<Op, __half>();
    case DType::bf16:
      return map::all_compiled<Op, __nv_bfloat16>();
    default:
      return map::all_compiled<Op, float>();
  }
}

/// What a step of a chain reads and writes: the input, the output, or one of two scratch arrays
/// that take turns, as a caching allocator hands out memory that was just freed.
enum class Array { x, s0, s1, y };

struct Step {
  std::span<const map::Compiled> (*compiled)(DType);
  Array a, b, to;  // b = a for operations of one input
};

constexpr std::array kRelu = {Step{compiled<Relu>, Array::x, Array::x, Array::y}};
constexpr std::array kGeluFused = {Step{compiled<Gelu>, Array::x, Array::x, Array::y}};
constexpr std::array kGeluUnfused = {
    Step{compiled<Square>, Array::x, Array::x, Array::s0},        // t1 = x·x
    Step{compiled<Multiply>, Array::s0, Array::x, Array::s1},     // t2 = t1·x
    Step{compiled<TimesCubic>, Array::s1, Array::s1, Array::s0},  // t3 = 0.044715·t2
    Step{compiled<Add>, Array::x, Array::s0, Array::s1},          // t4 = x + t3
    Step{compiled<TimesSlope>, Array::s1, Array::s1, Array::s0},  // t5 = 0.79788456·t4
    Step{compiled<Tanh>, Array::s0, Array::s0, Array::s1},        // t6 = tanh t5
    Step{compiled<AddOne>, Array::s1, Array::s1, Array::s0},      // t7 = 1 + t6
    Step{compiled<Half>, Array::x, Array::x, Array::s1},          // t8 = 0.5·x
    Step{compiled<Multiply>, Array::s1, Array::s0, Array::y},     // y = t8·t7
};

constexpr Problem configuration(std::int64_t threads, std::int64_t bytes, std::int64_t loads) {
  return {.dtype = DType::fp32, .values = {0, threads, bytes, loads}};
}

constexpr std::array kConfigurations = {configuration(256, 16, 1), configuration(256, 16, 4),
                                        configuration(128, 8, 2), configuration(512, 16, 8),
                                        configuration(1024, 8, 4)};

/// A chain of steps as an entry. kRoundings: units of roundoff accepted in the element type.
template <class Function, const auto& kSteps, int kRoundings>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) -> std::string {
        if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
          return "elementwise kernels run in fp32, fp16 and bf16, not " +
                 std::string(roofcast::name(p.dtype));
        }
        for (const Step& step : kSteps) {
          const std::string why = map::unsupported(step.compiled(p.dtype), p);
          if (!why.empty()) return why;
        }
        return {};
      },
      .tensors =
          [](const Problem& p) {
            const Tensor array{p.dtype, static_cast<std::size_t>(p[map::kElements])};
            return Tensors{{array}, {array}, std::vector<Tensor>(kSteps.size() > 1 ? 2 : 0, array)};
          },
      .launches =
          [](const Problem& p) {
            std::vector<Launch> launches;
            for (const Step& step : kSteps) {
              launches.push_back(map::launch_of(*map::find(step.compiled(p.dtype), p), p));
            }
            return launches;
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            const auto read = [&](Array array) -> const void* {
              if (array == Array::x) return at.inputs.front();
              return at.scratch[array == Array::s0 ? 0 : 1];
            };
            for (const Step& step : kSteps) {
              void* to = step.to == Array::y ? at.outputs.front()
                                             : at.scratch[step.to == Array::s0 ? 0 : 1];
              map::run(*map::find(step.compiled(p.dtype), p), p, read(step.a), read(step.b), to,
                       stream);
            }
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs,
             cudaStream_t stream) { map::reference<Function>(p, inputs, outputs.front(), stream); },
      .tolerance =
          [](const Problem& p) {
            const double arithmetic = kRoundings == 0 ? 0 : 16 * unit_roundoff(DType::fp32);
            return kRoundings * unit_roundoff(p.dtype) + arithmetic;
          },
  };
}

}  // namespace

std::span<const KernelEntry> entries() {
  static const std::array table = {
      entry<Relu, kRelu, 0>("elementwise.relu.fused"),
      entry<Relu, kRelu, 0>("elementwise.relu.unfused"),
      entry<Gelu, kGeluFused, 2>("elementwise.gelu.fused"),
      entry<Gelu, kGeluUnfused, 8>("elementwise.gelu.unfused"),
  };
  return table;
}

}  // namespace roofcast::cuda::elementwise
