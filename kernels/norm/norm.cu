// The norm family: its float64 references, tolerances, configurations and table of variants.
#include <array>
#include <cmath>

#include "kernels/families.hpp"
#include "kernels/norm/norm.cuh"

namespace roofcast::cuda::norm {
namespace {

constexpr int kThreads = 256;

/// The sum over the block's threads, returned to all of them.
__device__ double block_sum(double mine) {
  __shared__ double shared[kThreads];
  __syncthreads();
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  return shared[0];
}

/// μ (x) and r (y) of the block's row, in float64.
template <class T>
__device__ double2 statistics(const T* row, std::int64_t cols, Kind kind) {
  const auto n = static_cast<double>(cols);
  double sum = 0, squares = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) sum += widen(row[c]);
  const double mean = kind == Kind::layernorm ? block_sum(sum) / n : 0.0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const double off = widen(row[c]) - mean;
    squares += off * off;
  }
  return {mean, 1 / sqrt(block_sum(squares) / n + kEpsilon)};
}

/// Writes μ and r of each row, which the forward pass leaves for the backward pass. Out is float
/// or double.
template <class T, class Out>
__global__ void statistics_kernel(const T* x, Out* mean, Out* rstd, std::int64_t cols, Kind kind) {
  const std::int64_t row = blockIdx.x;
  const double2 of_row = statistics(x + row * cols, cols, kind);
  if (threadIdx.x != 0) return;
  if (mean != nullptr) mean[row] = static_cast<Out>(of_row.x);
  rstd[row] = static_cast<Out>(of_row.y);
}

template <class T>
__global__ void forward_reference(const T* x, const T* gamma, const T* beta, double* y,
                                  std::int64_t cols, Kind kind) {
  const std::int64_t row = blockIdx.x;
  const double2 of_row = statistics(x + row * cols, cols, kind);
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const double normal = (widen(x[row * cols + c]) - of_row.x) * of_row.y;
    y[row * cols + c] =
        normal * widen(gamma[c]) + (beta != nullptr ? static_cast<double>(widen(beta[c])) : 0.0);
  }
}

/// x̂ from the statistics given. `mean` null: 0.
template <class T>
__device__ double normal_of(const T* x, const float* mean, const float* rstd, std::int64_t row,
                            std::int64_t cols, std::int64_t c) {
  const double m = mean != nullptr ? mean[row] : 0.0F;
  return (widen(x[row * cols + c]) - m) * static_cast<double>(rstd[row]);
}

template <class T>
__global__ void dx_reference(const T* x, const T* dy, const T* gamma, const float* mean,
                             const float* rstd, double* dx, std::int64_t cols) {
  const std::int64_t row = blockIdx.x;
  const auto g = [&](std::int64_t c) {
    return static_cast<double>(widen(dy[row * cols + c])) * widen(gamma[c]);
  };
  double sum_g = 0, sum_gx = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    sum_g += g(c);
    sum_gx += g(c) * normal_of(x, mean, rstd, row, cols, c);
  }
  const auto n = static_cast<double>(cols);
  sum_g = mean != nullptr ? block_sum(sum_g) / n : 0.0;
  sum_gx = block_sum(sum_gx) / n;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    dx[row * cols + c] =
        rstd[row] * (g(c) - sum_g - normal_of(x, mean, rstd, row, cols, c) * sum_gx);
  }
}

/// Thread x has a column, thread y every 8th row.
template <class T>
__global__ void dgamma_reference(const T* x, const T* dy, const float* mean, const float* rstd,
                                 double* dgamma, double* dbeta, std::int64_t rows,
                                 std::int64_t cols) {
  __shared__ double2 sums[8][32];
  const std::int64_t c = std::int64_t{blockIdx.x} * 32 + threadIdx.x;
  double2 sum = {0, 0};
  for (std::int64_t row = threadIdx.y; row < rows && c < cols; row += 8) {
    const double d = widen(dy[row * cols + c]);
    sum.x += d * normal_of(x, mean, rstd, row, cols, c);
    sum.y += d;
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || c >= cols) return;
  for (int i = 1; i < 8; ++i) sum.x += sums[i][threadIdx.x].x, sum.y += sums[i][threadIdx.x].y;
  dgamma[c] = sum.x;
  if (dbeta != nullptr) dbeta[c] = sum.y;
}

std::string unsupported(Kind kind, const Problem& p) {
  if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
    return "normalization kernels run in fp32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  const std::string why = rows::unsupported_shape(p);
  if (!why.empty()) return why;
  const bool streams = is_streamed(p);
  if (!streams && p[kStaging] != roofcast::norm::kInRegisters) {
    return "staging must be registers or shared";
  }
  if (streams && !roofcast::norm::rows_are_aligned(p)) {
    return "rows must be a multiple of 16 bytes for bulk copies: use staging registers";
  }
  if (streams && !rows::has_clusters()) {
    return "this device has no bulk copies (compute capability 9.0): use staging registers";
  }
  return p[kPass] == kForward ? unsupported_forward(kind, p) : unsupported_backward(kind, p);
}

Tensors tensors(Kind kind, const Problem& p) {
  const auto rows = static_cast<std::size_t>(p[rows::kRows]);
  const auto cols = static_cast<std::size_t>(p[rows::kCols]);
  const Tensor matrix{p.dtype, rows * cols, cols}, vector{p.dtype, cols},
      statistic{DType::fp32, rows};
  const bool centred = kind == Kind::layernorm;
  if (p[kPass] == kForward) {
    return centred ? Tensors{{matrix, vector, vector}, {matrix, statistic, statistic}}
                   : Tensors{{matrix, vector}, {matrix, statistic}};
  }
  const Tensor partial{DType::fp32, static_cast<std::size_t>(strips(p)) * cols};
  return centred ? Tensors{{matrix, matrix, vector, statistic, statistic},
                           {matrix, vector, vector},
                           {partial, partial}}
                 : Tensors{{matrix, matrix, vector, statistic}, {matrix, vector}, {partial}};
}

template <class T>
void reference_of(Kind kind, const Problem& p, std::span<const void* const> inputs,
                  std::span<double* const> outputs, cudaStream_t stream) {
  const std::int64_t rows = p[rows::kRows], cols = p[rows::kCols];
  const auto blocks = static_cast<unsigned>(rows);
  const bool centred = kind == Kind::layernorm;
  const auto in = [&](std::size_t i) { return static_cast<const T*>(inputs[i]); };
  if (p[kPass] == kForward) {
    forward_reference<<<blocks, kThreads, 0, stream>>>(in(0), in(1), centred ? in(2) : nullptr,
                                                       outputs[0], cols, kind);
    statistics_kernel<<<blocks, kThreads, 0, stream>>>(in(0), centred ? outputs[1] : nullptr,
                                                       outputs[centred ? 2 : 1], cols, kind);
    return;
  }
  const auto* const mean = centred ? static_cast<const float*>(inputs[3]) : nullptr;
  const auto* const rstd = static_cast<const float*>(inputs[centred ? 4 : 3]);
  dx_reference<<<blocks, kThreads, 0, stream>>>(in(0), in(1), in(2), mean, rstd, outputs[0], cols);
  dgamma_reference<<<static_cast<unsigned>((cols + 31) / 32), dim3(32, 8), 0, stream>>>(
      in(0), in(1), mean, rstd, outputs[1], centred ? outputs[2] : nullptr, rows, cols);
}

/// Fills the backward pass's statistics with those of its x.
void fill(Kind kind, const Problem& p, std::span<void* const> inputs, cudaStream_t stream) {
  if (p[kPass] == kForward) return;
  const bool centred = kind == Kind::layernorm;
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    statistics_kernel<<<static_cast<unsigned>(p[rows::kRows]), kThreads, 0, stream>>>(
        static_cast<const T*>(inputs[0]), centred ? static_cast<float*>(inputs[3]) : nullptr,
        static_cast<float*>(inputs[centred ? 4 : 3]), p[rows::kCols], kind);
  });
  check(cudaGetLastError());
}

// Outputs are y (, μ), r of the forward pass, and dx, dγ (, dβ) of the backward pass. A thread adds
// at most 512 elements of a row in sequence; sums over rows may add all rows in sequence. A result
// of a row also has some ten roundings of values as large as the largest of its row. μ, r, dγ and
// dβ have one scale each.
double tolerance(Kind kind, const Problem& p, std::size_t output) {
  constexpr double kMostChain = 512, kElementwise = 16 * kFp32Roundoff;
  const auto rows = static_cast<double>(p[rows::kRows]), cols = static_cast<double>(p[rows::kCols]);
  const double row_sum = sum_error(cols, kMostChain) + kElementwise;
  if (output == 0) return row_sum / least_largest(cols) + narrowing(p.dtype);
  if (p[kPass] == kForward) {
    const bool is_mean = kind == Kind::layernorm && output == 1;
    return is_mean ? row_sum / least_largest(rows) : row_sum;
  }
  return (sum_error(rows, rows) + kElementwise) / least_largest(cols) + narrowing(p.dtype);
}

using roofcast::norm::kInRegisters;
using roofcast::norm::kInShared;
constexpr Problem configuration(std::int64_t pass, std::int64_t staging, std::int64_t vectors,
                                std::int64_t cluster, std::int64_t rows_per_cluster) {
  return {.dtype = DType::fp32,
          .values = {0, 0, pass, vectors, cluster, rows_per_cluster, staging}};
}
constexpr std::array kConfigurations = {
    configuration(kForward, kToChoose, kToChoose, kToChoose, kToChoose),
    configuration(kForward, kInRegisters, 4, 1, 1),
    configuration(kForward, kInRegisters, 4, 1, 3),
    configuration(kForward, kInRegisters, 2, 1, 3),
    configuration(kForward, kInRegisters, 4, 4, 1),
    configuration(kForward, kInRegisters, 4, 2, 5),
    configuration(kForward, kInRegisters, 8, 16, 1),
    configuration(kForward, kInShared, 8, 1, 3),
    configuration(kForward, kInShared, 8, 4, 3),
    configuration(kBackward, kInRegisters, 0, 0, 0),
    configuration(kBackward, kInShared, 0, 0, 0)};

template <Kind kKind>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) { return unsupported(kKind, p); },
      .tensors = [](const Problem& p) { return tensors(kKind, p); },
      .launches =
          [](const Problem& p) {
            return p[kPass] == kForward ? forward_launches(kKind, p) : backward_launches(kKind, p);
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            p[kPass] == kForward ? run_forward(kKind, p, at, stream)
                                 : run_backward(kKind, p, at, stream);
          },
      .reference =
          [](const Problem& p, std::span<const void* const> inputs,
             std::span<double* const> outputs, cudaStream_t stream) {
            visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
              reference_of<T>(kKind, p, inputs, outputs, stream);
            });
            check(cudaGetLastError());
          },
      .tolerance = [](const Problem& p, std::size_t output) { return tolerance(kKind, p, output); },
      .fill = [](const Problem& p, std::span<void* const> inputs, std::uint64_t /*seed*/,
                 cudaStream_t stream) { fill(kKind, p, inputs, stream); },
  };
}

}  // namespace

Entries entries() {
  static const std::array table = {entry<Kind::layernorm>("norm.layernorm"),
                                   entry<Kind::rmsnorm>("norm.rmsnorm")};
  return table;
}

}  // namespace roofcast::cuda::norm
