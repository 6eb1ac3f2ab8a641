// The softmax family: its float64 reference, tolerance and table of variants.
#include <array>

#include "kernels/families.hpp"
#include "kernels/softmax/softmax.cuh"

namespace roofcast::cuda::softmax {
namespace {

/// One block a row, in float64.
template <class T>
__global__ void reference_kernel(const T* x, double* y, std::int64_t cols) {
  constexpr int kThreads = 256;
  __shared__ double shared[kThreads];
  const std::int64_t row = blockIdx.x;
  const auto all = [&](double mine, auto&& combine) {
    __syncthreads();
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = kThreads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half) {
        shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
      }
      __syncthreads();
    }
    return shared[0];
  };
  const auto at = [&](std::int64_t c) { return static_cast<double>(widen(x[row * cols + c])); };
  double max = -INFINITY;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) max = fmax(max, at(c));
  max = all(max, [](double a, double b) { return fmax(a, b); });
  double sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += exp(at(c) - max);
  sum = all(sum, [](double a, double b) { return a + b; });
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    y[row * cols + c] = exp(at(c) - max) / sum;
  }
}

}  // namespace

std::string unsupported_problem(const Problem& p) {
  if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
    return "softmax kernels run in fp32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  return rows::unsupported_shape(p);
}

Tensors tensors(const Problem& p) {
  const auto rows = static_cast<std::size_t>(p[rows::kRows]);
  const auto cols = static_cast<std::size_t>(p[rows::kCols]);
  const Tensor matrix{p.dtype, rows * cols, cols};
  return {{matrix}, {matrix}};
}

void reference(const Problem& p, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    reference_kernel<<<static_cast<unsigned>(p[rows::kRows]), 256, 0, stream>>>(
        static_cast<const T*>(inputs[0]), outputs[0], p[rows::kCols]);
  });
  check(cudaGetLastError());
}

// The error relative to the row's largest result. The sum is spread over at least 32 threads. Two
// exponentials err by 2^-22 each, the reciprocal by 2·u, and exponents up to 16, rounded at most
// twice, by 2·16·u·ln 2. A narrow result is rounded once; among 2^14 and more normal numbers one is
// surely above 3, so that the largest result is above e³ / (√e·n) = 12 / n.
double tolerance(const Problem& p, std::size_t /*output*/) {
  const auto n = static_cast<double>(p[rows::kCols]);
  const double exponents = (2 * 4 + 2 + 2 * 16 * std::log(2.0)) * kFp32Roundoff;
  return sum_error(n, n / 32) + exponents + narrowing(p.dtype, 12 / n);
}

KernelEntry three_pass(), online(), registers(), cluster();

Entries entries() {
  static const std::array table = {three_pass(), online(), registers(), cluster()};
  return table;
}

}  // namespace roofcast::cuda::softmax
