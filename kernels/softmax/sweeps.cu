// Softmax by sweeps over the row in memory, a block or a warp a row. A row may have any length,
// because no thread holds its elements.
//
//   three_pass  reads 3·n, writes n  Maximum, sum, normalize: what the formula says.
//   online      reads 2·n, writes n  Maximum and sum in one sweep. When the maximum grows, the sum
//                                    so far is scaled down (Milakov, Gimelshein 2018).
//
// Reads after the first hit L1 while the rows of the SM's blocks fit L1, and L2 while the rows of
// all resident blocks fit L2 (8 blocks of 256 threads on each of 132 SMs: rows under about 50 KB);
// else they go to DRAM.
#include <array>
#include <string>

#include "kernels/common/row_sweep.cuh"
#include "kernels/softmax/softmax.cuh"
#include "model/kernels/softmax/softmax.hpp"

namespace roofcast::cuda::softmax {
namespace {

using roofcast::softmax::kThreads;
using roofcast::softmax::sweep_layout;

/// This thread's row, or -1. In a cluster only the first block works.
__device__ std::int64_t row_here(std::int64_t rows, int cluster) {
  if (blockIdx.x % static_cast<unsigned>(cluster) != 0) return -1;
  const auto first = std::int64_t{blockIdx.x / static_cast<unsigned>(cluster)} * blockDim.y;
  return first + threadIdx.y < rows ? first + threadIdx.y : -1;
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(rows::kMaxThreads, 1)
    three_pass_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int cols,
                      int cluster) {
  __shared__ Part maxima[rows::kMaxWarps], sums[rows::kMaxWarps];
  const std::int64_t row = row_here(rows, cluster);
  if (row < 0) return;
  const T* const from = x + row * cols;
  const auto shape = rows::shape_of<kAligned>(from, cols);

  Part part = {-INFINITY, 0};
  rows::read_row<kAligned, rows::Pad::minus_infinity>(from, shape, [&](const auto& values) {
    for (const float value : values) part.x = fmaxf(part.x, value);
  });
  const float max = anchor(merge_block({rows::warp_max(part.x), 0}, maxima).x);

  rows::read_row<kAligned, rows::Pad::minus_infinity>(from, shape, [&](const auto& values) {
    for (const float value : values) part.y += exp_of(value - max);
  });
  const float scale = reciprocal_of(merge_block({0, rows::warp_sum(part.y)}, sums).y);

  rows::map_row<kAligned>(from, y + row * cols, shape,
                          [&](float value) { return exp_of(value - max) * scale; });
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(rows::kMaxThreads, 1)
    online_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int cols,
                  int cluster) {
  __shared__ Part parts[rows::kMaxWarps];
  const std::int64_t row = row_here(rows, cluster);
  if (row < 0) return;
  const T* const from = x + row * cols;
  const auto shape = rows::shape_of<kAligned>(from, cols);

  Part part = {-INFINITY, 0};
  rows::read_row<kAligned, rows::Pad::minus_infinity>(from, shape, [&](const auto& values) {
    float max = part.x;
    for (const float value : values) max = fmaxf(max, value);
    float sum = part.y * exp_of(part.x - anchor(max));  // one scaling for a vector's elements
    for (const float value : values) sum += exp_of(value - anchor(max));
    part = {max, sum};
  });
  const Part whole = merge_block(merge_warp(part), parts);
  const float max = anchor(whole.x), scale = reciprocal_of(whole.y);

  rows::map_row<kAligned>(from, y + row * cols, shape,
                          [&](float value) { return exp_of(value - max) * scale; });
}

constexpr Problem configuration(std::int64_t threads) {
  return {.dtype = DType::fp32, .values = {0, 0, threads}};
}
constexpr std::array kConfigurations = {configuration(256), configuration(32), configuration(1024)};

std::string unsupported(const Problem& p) {
  const std::string why = unsupported_problem(p);
  if (!why.empty()) return why;
  if (p[kThreads] < 32 || p[kThreads] > rows::kMaxThreads || p[kThreads] % 32 != 0) {
    return "threads must be a multiple of 32 from 32 to 1024; asked for " +
           std::to_string(p[kThreads]);
  }
  return rows::unsupported_layout(p, sweep_layout(p), "larger blocks");
}

/// Each algorithm has two kernels: by 16-byte vectors, and element by element.
struct ThreePass {
  template <class T, bool kAligned>
  static Kernel<T> kernel() {
    return three_pass_kernel<T, kAligned>;
  }
};
struct Online {
  template <class T, bool kAligned>
  static Kernel<T> kernel() {
    return online_kernel<T, kAligned>;
  }
};

template <class Algorithm>
KernelEntry entry(std::string_view name) {
  return {
      .name = name,
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors = tensors,
      .launches =
          [](const Problem& p) {
            return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
              const rows::Layout layout = sweep_layout(p);
              const Kernel<T> kernel = Algorithm::template kernel<T, true>();
              return std::vector{Launch{reinterpret_cast<const void*>(kernel),
                                        rows::grid_of(layout, p[rows::kRows]),
                                        rows::block_of(layout), 0}};
            });
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
              const bool aligned = rows::same_shift(at.inputs[0], at.outputs[0]);
              launch<T>(aligned ? Algorithm::template kernel<T, true>()
                                : Algorithm::template kernel<T, false>(),
                        sweep_layout(p), p, at, stream);
            });
          },
      .reference = reference,
      .tolerance = tolerance,
  };
}

}  // namespace

template <class T>
Kernel<T> online_by_element() {
  return online_kernel<T, false>;
}
template Kernel<float> online_by_element<float>();
template Kernel<__half> online_by_element<__half>();
template Kernel<__nv_bfloat16> online_by_element<__nv_bfloat16>();

KernelEntry three_pass() {
  return entry<ThreePass>("softmax.three_pass");
}
KernelEntry online() {
  return entry<Online>("softmax.online");
}

}  // namespace roofcast::cuda::softmax
