// Softmax of a row held in registers: reads n, writes n, and one exponential an element.
//
// What limits it is the bytes in flight. A block loads, then reduces, then stores; while one block
// reduces, others must load. By Little's law 4.8 TB/s times 600 ns under load is 22 KB on each of
// 132 SMs, so rows are spread such that several blocks, each with at most 32 KB of a row, fit an
// SM:
//   - rows up to 32 vectors·most (1024 fp32 or 16-bit elements): a warp a row, no barrier;
//   - longer rows: a block a row, one barrier. Each warp adds relative to its own maximum, and
//   parts
//     merge as in the online softmax: one exchange for maximum and sum together;
//   - rows beyond that: a cluster of up to 16 blocks a row (compute capability 9.0). Each warp
//     stores its part into the shared memory of every block of the cluster, and one cluster barrier
//     later all blocks know the row's maximum and sum. DRAM traffic stays at n + n where a sweep
//     must read 2·n.
// A thread's accesses are 16 bytes wide and all issued before the first is used.
#include <array>
#include <string>

#include "kernels/softmax/softmax.cuh"
#include "model/kernels/softmax.hpp"

namespace roofcast::cuda::softmax {
namespace {

using roofcast::softmax::cluster_layout;
using roofcast::softmax::kCluster;
using roofcast::softmax::kVectors;
using roofcast::softmax::registers_layout;

template <class T, int kVectors, bool kClustered>
__global__ __launch_bounds__(1024, 1) void held_kernel(const T* __restrict__ x, T* __restrict__ y,
                                                       std::int64_t rows, int cols,
                                                       int /*cluster*/) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr int kParts =
      kClustered ? rows::kMaxWarps * static_cast<int>(rows::kMaxCluster) : rows::kMaxWarps;
  __shared__ Part parts[kParts];
  const auto cluster = kClustered ? rows::Cluster::here() : rows::Cluster{0, 1};
  if constexpr (kClustered) cluster.arrive();  // wait: before the first store to another block

  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t row = kClustered
                               ? std::int64_t{blockIdx.x / static_cast<unsigned>(cluster.size)}
                               : std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // a whole warp, in blocks with a row for each warp: no barrier follows
  const T* const from = x + row * cols;
  T* const to = y + row * cols;
  const rows::RowShape<T> shape = rows::shape_of<true>(from, cols);
  const int slice = (shape.body + cluster.size - 1) / cluster.size;
  const int end = min(shape.body, (cluster.rank + 1) * slice);
  const int first = cluster.rank * slice + thread;
  const auto at = [&](int i) { return first + i * threads; };
  const auto position = [&](int i) { return shape.head + std::int64_t{at(i)} * kWidth; };
  const int edge = cluster.rank == 0 ? shape.edge_column(thread) : cols;

  rows::Packed in[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    in[i] = rows::padding<T, rows::Pad::minus_infinity>();
    if (at(i) < end) in[i] = rows::load_packed<true>(from + position(i));
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

  Part whole;
  if constexpr (kClustered) {
    const int warps = threads / 32;
    cluster.wait();
    if (thread % 32 < cluster.size) {
      cluster.store(&parts[cluster.rank * warps + thread / 32], thread % 32, warp);
    }
    cluster.arrive();
    cluster.wait();
    whole = merge(parts, cluster.size * warps);
  } else {
    whole = merge_block(warp, parts);
  }
  const float scale = exp_of(warp.x - anchor(whole.x)) * reciprocal(whole.y);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (at(i) >= end) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) value[i * kWidth + e] *= scale;
    rows::store_packed<true>(to + position(i), rows::pack<T>(value + i * kWidth));
  }
  if (edge < cols) to[edge] = narrow<T>(edge_value * scale);
}

/// The compiled kernel that holds that many vectors a thread, or nullptr.
template <class T, bool kClustered>
Kernel<T> held(std::int64_t vectors) {
  constexpr int kMost = static_cast<int>(roofcast::softmax::most_vectors(sizeof(T)));
  if (vectors == kMost) return held_kernel<T, kMost, kClustered>;
  if (vectors == kMost / 2) return held_kernel<T, kMost / 2, kClustered>;
  if constexpr (!kClustered) {
    if (vectors == 1) return held_kernel<T, 1, kClustered>;
    if (vectors == 2) return held_kernel<T, 2, kClustered>;
  }
  return nullptr;
}

constexpr Problem configuration(std::int64_t vectors, std::int64_t cluster) {
  return {.dtype = DType::fp32, .values = {0, 0, vectors, cluster}};
}
constexpr std::array kRegistersConfigurations = {configuration(0, 0), configuration(2, 0),
                                                 configuration(4, 0), configuration(8, 0)};
constexpr std::array kClusterConfigurations = {configuration(0, 0), configuration(4, 2),
                                               configuration(4, 8), configuration(8, 16)};

template <bool kClustered>
rows::Layout layout_of(const Problem& p) {
  return kClustered ? cluster_layout(p) : registers_layout(p);
}

template <bool kClustered>
std::string unsupported(const Problem& p) {
  const std::string why = unsupported_problem(p);
  if (!why.empty()) return why;
  if (p[kVectors] < 0 || (kClustered && p[kCluster] < 0)) return "settings must not be negative";
  if (kClustered && (p[kCluster] == 1 || p[kCluster] > rows::kMaxCluster ||
                     (p[kCluster] & (p[kCluster] - 1)) != 0)) {
    return "cluster must be 2, 4, 8 or 16 blocks, or 0 to choose; asked for " +
           std::to_string(p[kCluster]);
  }
  const rows::Layout layout = layout_of<kClustered>(p);
  return visit(p.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if (held<T, kClustered>(layout.vectors) == nullptr) {
      return "compiled for at most " + std::to_string(roofcast::softmax::most_vectors(sizeof(T))) +
             " vectors a thread of " + std::string(name(p.dtype)) + ", a power of two" +
             (kClustered ? " and at least half of that" : "") + "; asked for " +
             std::to_string(layout.vectors);
    }
    return rows::unsupported_layout(p, layout,
                                    kClustered ? "softmax.online" : "softmax.cluster or online");
  });
}

template <bool kClustered>
KernelEntry entry(std::string_view name, std::span<const Problem> configurations) {
  return {
      .name = name,
      .configurations = configurations,
      .unsupported = unsupported<kClustered>,
      .tensors = tensors,
      .launches =
          [](const Problem& p) {
            return visit(p.dtype, [&]<class T>(std::type_identity<T>) {
              const rows::Layout layout = layout_of<kClustered>(p);
              const Kernel<T> kernel = held<T, kClustered>(layout.vectors);
              return std::vector{Launch{reinterpret_cast<const void*>(kernel),
                                        rows::grid_of(layout, p[rows::kRows]),
                                        rows::block_of(layout), 0}};
            });
          },
      .run =
          [](const Problem& p, const Addresses& at, cudaStream_t stream) {
            visit(p.dtype, [&]<class T>(std::type_identity<T>) {
              const rows::Layout layout = layout_of<kClustered>(p);
              const bool aligned = rows::same_shift(at.inputs[0], at.outputs[0]);
              launch<T>(aligned ? held<T, kClustered>(layout.vectors) : online_by_element<T>(),
                        layout, p, at, stream);
            });
          },
      .reference = reference,
      .tolerance = tolerance,
  };
}

}  // namespace

KernelEntry registers() {
  return entry<false>("softmax.registers", kRegistersConfigurations);
}
KernelEntry cluster() {
  return entry<true>("softmax.cluster", kClusterConfigurations);
}

}  // namespace roofcast::cuda::softmax
