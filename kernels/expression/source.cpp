#include "kernels/expression/source.hpp"

#include <string_view>

#include "kernels/expression/node_text.hpp"
#include "kernels/expression/prelude.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;

// The elements before and after the vectors take a thread each, and threads beyond the end repeat
// the last vector, as in map.cuh.
constexpr std::string_view kKernels = R"(
__device__ void one(const Inputs& in, const Outputs& out, long long i) {
  float x[kInputs], y[kOutputs];
#pragma unroll
  for (int k = 0; k < kInputs; ++k) x[k] = widen(in.at[k][i]);
  expression(x, y);
#pragma unroll
  for (int k = 0; k < kOutputs; ++k) out.at[k][i] = narrow(y[k]);
}

__device__ void load(const Inputs& in, long long head, long long i, Vector (&x)[kInputs]) {
#pragma unroll
  for (int k = 0; k < kInputs; ++k) {
    x[k].wide = __ldg(reinterpret_cast<const Wide*>(in.at[k] + head) + i);
  }
}

__device__ void store(const Outputs& out, long long head, long long i,
                      const Vector (&x)[kInputs]) {
  Vector y[kOutputs];
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    float lows[kInputs], highs[kInputs], low_results[kOutputs], high_results[kOutputs];
#pragma unroll
    for (int k = 0; k < kInputs; ++k) {
      lows[k] = low(x[k].word[w]);
      highs[k] = high(x[k].word[w]);
    }
    expression(lows, low_results);
    expression(highs, high_results);  // of one element a word nothing reads them
#pragma unroll
    for (int k = 0; k < kOutputs; ++k) y[k].word[w] = pack(low_results[k], high_results[k]);
  }
#pragma unroll
  for (int k = 0; k < kOutputs; ++k) reinterpret_cast<Wide*>(out.at[k] + head)[i] = y[k].wide;
}

extern "C" __global__ __launch_bounds__(kThreads, kMinBlocks)
void map_vectors(Inputs in, Outputs out, long long n) {
  const int past = (int)((unsigned long long)out.at[0] % kVectorBytes);
  const long long to_boundary = (kVectorBytes - past) % kVectorBytes / sizeof(Element);
  const long long head = n < to_boundary ? n : to_boundary;
  const long long vectors = (n - head) / kWidth;
  const long long chunk = (long long)blockIdx.x * kThreads * kLoads;
  const long long left = vectors - chunk;
  const int last = (int)(left < kThreads * kLoads ? left : kThreads * kLoads) - 1;
  const auto at = [&](int i) { return chunk + min((int)threadIdx.x + i * kThreads, last); };
  if (last >= 0) {
    Vector x[kLoads][kInputs];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) load(in, head, at(i), x[i]);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) store(out, head, at(i), x[i]);
  }

  const long long tail = head + vectors * kWidth + threadIdx.x;
  if (blockIdx.x == 0 && threadIdx.x < head) one(in, out, threadIdx.x);
  if (blockIdx.x == gridDim.x - 1 && tail < n) one(in, out, tail);
}

extern "C" __global__ __launch_bounds__(kThreads)
void map_scalar(Inputs in, Outputs out, long long n) {
  long long i = (long long)blockIdx.x * kThreads * kWidth * kLoads + threadIdx.x;
  for (int e = 0; e < kWidth * kLoads; ++e, i += kThreads) {
    if (i < n) one(in, out, i);
  }
}
)";

std::string function_of(const Expression& e) {
  std::string text =
      "__device__ void expression(const float (&x)[kInputs], float (&y)[kOutputs]) {\n";
  for (std::size_t i = 0; i < e.nodes.size(); ++i) text += line_of(e, i);
  std::size_t output = 0;
  for (const std::uint8_t node : e.outputs()) {
    text += "  y[" + std::to_string(output++) + "] = t" + std::to_string(node) + ";\n";
  }
  return text + "}\n";
}

}  // namespace

std::string source(const Expression& expression, const Configuration& configuration) {
  const Expression shared = expression::share(expression::fold(expression));
  const int inputs = static_cast<int>(shared.inputs.size());
  const int outputs = static_cast<int>(shared.outputs().size());
  const int blocks = min_blocks(inputs + outputs - 1, configuration.threads, configuration);
  return prelude(configuration, inputs, outputs, configuration.threads, blocks) +
         function_of(shared) + std::string(kKernels);
}

}  // namespace roofcast::cuda::expr
