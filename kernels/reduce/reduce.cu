// The reduce family: launches of the kernels of sums.cu, the float64 reference and the tolerance.
#include <array>
#include <cmath>
#include <string>

#include "kernels/families.hpp"
#include "kernels/reduce/reduce.cuh"

namespace roofcast::cuda::reduce {
namespace {

using roofcast::reduce::finish_layout;
using roofcast::reduce::Kind;
using roofcast::reduce::kSplit;
using roofcast::reduce::kThreads;
using roofcast::reduce::layout_of;

/// A global sum is the sum of one row of all elements.
std::int64_t rows_of(Kind kind, const Problem& p) {
  return kind == Kind::global ? 1 : p[rows::kRows];
}
std::int64_t cols_of(Kind kind, const Problem& p) {
  return kind == Kind::global ? p[rows::kRows] * p[rows::kCols] : p[rows::kCols];
}

bool aligned_rows(const Problem& p) {
  return p[rows::kCols] * roofcast::element_bytes(p.dtype) % rows::kVectorBytes == 0;
}

dim3 grid(Kind kind, const Problem& p) {
  return {static_cast<unsigned>(layout_of(kind, p).blocks(rows_of(kind, p)))};
}
dim3 block(const Layout& layout) {
  return {static_cast<unsigned>(layout.threads), static_cast<unsigned>(layout.groups_a_block)};
}

std::string unsupported(Kind kind, const Problem& p) {
  if (p.dtype != DType::fp32 && p.dtype != DType::fp16 && p.dtype != DType::bf16) {
    return "reductions run in fp32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  const std::string why = rows::unsupported_shape(p);
  if (!why.empty()) return why;
  if (p[kSplit] < 1 || p[kSplit] > roofcast::reduce::kMostChunks) {
    return "split must be from 1 to " + std::to_string(roofcast::reduce::kMostChunks) +
           " blocks a row; asked for " + std::to_string(p[kSplit]);
  }
  if (p[kThreads] < rows::kWarp || p[kThreads] > roofcast::reduce::kMostThreads ||
      roofcast::power_of_two_from(p[kThreads]) != p[kThreads]) {
    return "threads must be 32, 64, 128 or 256; asked for " + std::to_string(p[kThreads]);
  }
  const Layout layout = layout_of(kind, p);
  if (layout.blocks(rows_of(kind, p)) > roofcast::rows::kMaxRows ||
      roofcast::reduce::chunk_elements(cols_of(kind, p), roofcast::element_bytes(p.dtype),
                                       layout.split) > roofcast::rows::kMaxCols) {
    return "too many or too large chunks for one grid: choose another split";
  }
  return {};
}

Tensors tensors(Kind kind, const Problem& p) {
  const auto rows = static_cast<std::size_t>(p[rows::kRows]);
  const auto cols = static_cast<std::size_t>(p[rows::kCols]);
  const auto sums = static_cast<std::size_t>(rows_of(kind, p));
  const auto split = static_cast<std::size_t>(layout_of(kind, p).split);
  Tensors result{{{p.dtype, rows * cols}}, {{p.dtype, sums}}};
  if (kind == Kind::weighted) result.inputs.push_back({p.dtype, cols});
  if (split > 1) result.scratch.push_back({DType::fp32, sums * split});
  return result;
}

template <class T>
Kernel<T> kernel_of(Kind kind, bool aligned) {
  return kind == Kind::weighted ? weighted<T>(aligned) : plain<T>();
}

std::vector<Launch> launches(Kind kind, const Problem& p) {
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const Layout layout = layout_of(kind, p);
    std::vector<Launch> result = {
        {reinterpret_cast<const void*>(kernel_of<T>(kind, aligned_rows(p))), grid(kind, p),
         block(layout), 0}};
    if (layout.split > 1) {
      result.push_back({reinterpret_cast<const void*>(finish<T>()),
                        rows::grid_of(finish_layout(layout), rows_of(kind, p)),
                        rows::block_of(finish_layout(layout)), 0});
    }
    return result;
  });
}

void run(Kind kind, const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const Layout layout = layout_of(kind, p);
    const auto at_vector = [](const void* address) {
      return reinterpret_cast<std::uintptr_t>(address) % rows::kVectorBytes == 0;
    };
    const bool aligned =
        aligned_rows(p) && at_vector(at.inputs.front()) && at_vector(at.inputs.back());
    const Sum<T> sum = {static_cast<const T*>(at.inputs.front()),
                        static_cast<const T*>(at.inputs.back()),
                        static_cast<T*>(at.outputs[0]),
                        layout.split > 1 ? static_cast<float*>(at.scratch[0]) : nullptr,
                        rows_of(kind, p),
                        cols_of(kind, p),
                        roofcast::reduce::chunk_elements(
                            cols_of(kind, p), roofcast::element_bytes(p.dtype), layout.split),
                        static_cast<int>(layout.split)};
    kernel_of<T>(kind, aligned)<<<grid(kind, p), block(layout), 0, stream>>>(sum);
    check(cudaGetLastError());
    if (layout.split == 1) return;
    finish<T>()<<<rows::grid_of(finish_layout(layout), sum.rows),
                  rows::block_of(finish_layout(layout)), 0, stream>>>(sum);
    check(cudaGetLastError());
  });
}

/// One block a row, in float64. `weights` null: all 1. With `all` every row adds to y[0]; the order
/// of these atomic additions changes the sum by less than the tolerance.
template <class T>
__global__ void reference_kernel(const T* x, const T* weights, double* y, std::int64_t cols,
                                 bool all) {
  constexpr int kThreads = 256;
  __shared__ double shared[kThreads];
  const std::int64_t row = blockIdx.x;
  double sum = 0;
  for (std::int64_t c = threadIdx.x; c < cols; c += kThreads) {
    const double value = widen(x[row * cols + c]);
    sum += weights != nullptr ? value * static_cast<double>(widen(weights[c])) : value;
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x] += shared[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(y + (all ? 0 : row), shared[0]);
}

void reference(Kind kind, const Problem& p, std::span<const void* const> inputs, double* y,
               cudaStream_t stream) {
  const auto sums = static_cast<std::size_t>(rows_of(kind, p));
  check(cudaMemsetAsync(y, 0, sums * sizeof(double), stream));
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const auto* const x = static_cast<const T*>(inputs.front());
    const auto* const weights =
        kind == Kind::weighted ? static_cast<const T*>(inputs.back()) : nullptr;
    const auto blocks = static_cast<unsigned>(p[rows::kRows]);
    reference_kernel<<<blocks, 256, 0, stream>>>(x, weights, y, p[rows::kCols],
                                                 kind == Kind::global);
  });
  check(cudaGetLastError());
}

// The error of sums of `cols` normal numbers or products, relative to the largest sum. A thread
// adds its share of a chunk one after another, and a thread of the second launch its share of the
// chunks. A narrow result is rounded once.
double tolerance(Kind kind, const Problem& p) {
  const Layout layout = layout_of(kind, p);
  const std::int64_t elements = roofcast::reduce::chunk_elements(
      cols_of(kind, p), roofcast::element_bytes(p.dtype), layout.split);
  const auto chain = static_cast<double>(roofcast::ceil_div(elements, layout.threads) +
                                         roofcast::ceil_div(layout.split, rows::kWarp));
  const double sum = sum_error(static_cast<double>(cols_of(kind, p)), chain) + 2 * kFp32Roundoff;
  return sum / least_largest(static_cast<double>(rows_of(kind, p))) + narrowing(p.dtype);
}

constexpr Problem configuration(std::int64_t split, std::int64_t threads) {
  return {.dtype = DType::fp32, .values = {0, 0, split, threads}};
}
constexpr std::array kConfigurations = {configuration(kToChoose, kToChoose), configuration(1, 32),
                                        configuration(1, 256), configuration(7, 128),
                                        configuration(3, 32)};

template <Kind kKind>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = [](const Problem& p) { return unsupported(kKind, p); },
      .tensors = [](const Problem& p) { return tensors(kKind, p); },
      .launches = [](const Problem& p) { return launches(kKind, p); },
      .run = [](const Problem& p, const Addresses& at,
                cudaStream_t stream) { run(kKind, p, at, stream); },
      .reference = [](const Problem& p, std::span<const void* const> inputs,
                      std::span<double* const> outputs,
                      cudaStream_t stream) { reference(kKind, p, inputs, outputs[0], stream); },
      .tolerance = [](const Problem& p, std::size_t) { return tolerance(kKind, p); },
  };
}

}  // namespace

Entries entries() {
  static const std::array table = {entry<Kind::row>("reduce.row"),
                                   entry<Kind::weighted>("reduce.weighted"),
                                   entry<Kind::global>("reduce.global")};
  return table;
}

}  // namespace roofcast::cuda::reduce
