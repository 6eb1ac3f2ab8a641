// Softmax of a row held in registers: reads n, writes n, one exponential per element.
//
// The bytes in flight are its limit. A block loads, then reduces, then stores; while one block
// reduces, others must load. By Little's law 4.8 TB/s times 600 ns under load is 22 KB on each of
// 132 SMs, so several blocks should fit an SM, as they do with up to 32 KB of a row each:
//   - Rows up to 1024 elements fit a warp, which needs no barrier.
//   - Longer rows take a block and one barrier. Each warp adds relative to its own maximum, and the
//     parts merge as in the online softmax: one exchange for maximum and sum together.
//   - Rows beyond 32768 elements do not fit a block's registers: cluster.cu takes them.
// A thread's accesses are 16 bytes wide, and all are issued before the first is used.
#include <array>
#include <string>

#include "kernels/softmax/softmax.cuh"
#include "model/kernels/softmax/softmax.hpp"

namespace roofcast::cuda::softmax {
namespace {

using roofcast::softmax::kVectors;
using roofcast::softmax::registers_layout;

template <class T, int kVectors>
__global__ void __launch_bounds__(rows::kMaxThreads, 1)
    held_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int cols,
                int /*cluster*/) {
  constexpr int kWidth = rows::kWidth<T>;
  __shared__ Part parts[rows::kMaxWarps];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // happens only with a warp a row, where no barrier follows
  const T* const from = x + row * cols;
  T* const to = y + row * cols;
  const rows::RowShape<T> shape = rows::shape_of<true>(from, cols);
  const auto at = [&](int i) { return thread + i * threads; };
  const auto position = [&](int i) { return shape.head + std::int64_t{at(i)} * kWidth; };
  const int edge = shape.edge_column(thread);

  rows::Packed in[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    in[i] = rows::padding<T, rows::Pad::minus_infinity>();
    if (at(i) < shape.body) in[i] = rows::load_packed<true>(from + position(i));
  }
  float edge_value = edge < cols ? widen(from[edge]) : -INFINITY;

  float value[kVectors * kWidth];
  float max = edge_value;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) rows::unpack<T>(in[i], value + i * kWidth);
#pragma unroll
  for (int i = 0; i < kVectors * kWidth; ++i) max = fmaxf(max, value[i]);
  Part warp = {rows::warp_max(max), 0};
  const float relative_to = anchor(warp.x);
  edge_value = exp_of(edge_value - relative_to);
  float sum = edge_value;
#pragma unroll
  for (int i = 0; i < kVectors * kWidth; ++i) {
    value[i] = exp_of(value[i] - relative_to);
    sum += value[i];
  }
  warp.y = rows::warp_sum(sum);

  const Part whole = merge_block(warp, parts);
  const float scale = exp_of(warp.x - anchor(whole.x)) * reciprocal_of(whole.y);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (at(i) >= shape.body) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) value[i * kWidth + e] *= scale;
    rows::store_packed<true>(to + position(i), rows::pack<T>(value + i * kWidth));
  }
  if (edge < cols) to[edge] = narrow<T>(edge_value * scale);
}

/// The compiled kernel that holds that many vectors a thread, or nullptr.
template <class T>
Kernel<T> held(std::int64_t vectors) {
  switch (vectors) {
    case 1:
      return held_kernel<T, 1>;
    case 2:
      return held_kernel<T, 2>;
    case 4:
      return held_kernel<T, 4>;
    case 8:
      if constexpr (sizeof(T) == 4) return held_kernel<T, 8>;
      return nullptr;
    default:
      return nullptr;
  }
}

constexpr Problem configuration(std::int64_t vectors) {
  return {.dtype = DType::fp32, .values = {0, 0, vectors}};
}
constexpr std::array kConfigurations = {configuration(kToChoose), configuration(2),
                                        configuration(4), configuration(8)};

std::string unsupported(const Problem& p) {
  const std::string why = unsupported_problem(p);
  if (!why.empty()) return why;
  if (p[kVectors] < 1) return "vectors must be at least 1";
  const rows::Layout layout = registers_layout(p);
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if (held<T>(layout.vectors) == nullptr) {
      return "compiled for at most " + std::to_string(roofcast::rows::most_vectors(p.dtype)) +
             " vectors a thread of " + std::string(name(p.dtype)) + ", a power of two; asked for " +
             std::to_string(layout.vectors);
    }
    return rows::unsupported_layout(p, layout, "softmax.cluster or online");
  });
}

}  // namespace

KernelEntry registers() {
  return {
      .name = "softmax.registers",
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors = tensors,
      .launches =
          [](const Problem& p) {
            return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
              const rows::Layout layout = registers_layout(p);
              return std::vector{Launch{reinterpret_cast<const void*>(held<T>(layout.vectors)),
                                        rows::grid_of(layout, p[rows::kRows]),
                                        rows::block_of(layout), 0}};
            });
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
              const rows::Layout layout = registers_layout(p);
              const bool aligned = rows::same_shift(at.inputs[0], at.outputs[0]);
              launch<T>(aligned ? held<T>(layout.vectors) : online_by_element<T>(), layout, p, at,
                        stream);
            });
          },
      .reference = reference,
      .tolerance = tolerance,
  };
}

}  // namespace roofcast::cuda::softmax
