// Softmax of long rows: rows stream through shared memory (kernels/common/row_ring.cuh), one block
// or thread-block cluster per row (compute capability 9.0). Reads n, writes n.
//
// A block that holds its row in registers has no loads in flight while it reduces and stores. With
// rows of 16 KB and more too few blocks fit an SM to cover for each other: 0.85 of the copy rate at
// 32 KB, 0.48 at 128 KB. Here the next row arrives meanwhile, and costs no registers.
//   - A thread takes 8 accesses of 16 bytes. With 4, twice as many warps reduce and merge, and
//     instruction issue is the limit.
//   - A warp has one buffer (`stages`): the loads of the next row start as soon as this one is in
//     registers, so 64 KB are in flight on an SM, where Little's law asks for 22 KB (4.8 TB/s · 600
//     ns / 132). More is slower: with 192 KB a plain copy through such rings fell from 0.96 to 0.66
//     of the copy rate (rows of 256 KB fp32; supposedly DRAM sees reads and writes too far apart).
//   - A block has up to 64 KB of a row, so longer rows need a cluster of blocks. Blocks exchange
//     the maxima and sums of their parts over distributed shared memory.
//   - A block or cluster takes a few rows (`rows_per_cluster`) and ends. Persistent blocks are
//     slower, 0.87 against 0.96 at 32 KB (supposedly they desynchronize). Clusters gain from more
//     rows, because a cluster starts only once there is room for all its blocks: 0.92 with eight
//     rows, 0.80 with two.
//   - fp32 keeps the exponentials and scales them. 16-bit types keep the elements packed, in half
//     the registers, and recompute the exponentials relative to m + ln s in fp32. The exponent then
//     has an error of |m|·2^-24; rounding it to fp16 would make that |m|·2^-11.
// Shares of the copy rate are for 2^28 elements on an H200.
#include <array>
#include <string>

#include "kernels/common/row_ring.cuh"
#include "kernels/softmax/softmax.cuh"
#include "model/kernels/softmax/softmax.hpp"

namespace roofcast::cuda::softmax {
namespace {

using roofcast::softmax::cluster_layout;
using roofcast::softmax::kCluster;
using roofcast::softmax::kRingThreads;
using roofcast::softmax::kRingVectors;
using roofcast::softmax::kRowsPerCluster;
using roofcast::softmax::kStages;

constexpr int kThreads = static_cast<int>(kRingThreads);
constexpr int kVectors = static_cast<int>(kRingVectors);

template <class T>
__device__ float max_of(const rows::Packed& packed) {
  if constexpr (sizeof(T) == 4) {
    float value[4];
    rows::unpack<T>(packed, value);
    return fmaxf(fmaxf(value[0], value[1]), fmaxf(value[2], value[3]));
  } else {
    rows::Pair<T> pair[4];
    __builtin_memcpy(pair, &packed, sizeof(packed));
    const float2 two =
        rows::widen_pair(__hmax2(__hmax2(pair[0], pair[1]), __hmax2(pair[2], pair[3])));
    return fmaxf(two.x, two.y);
  }
}

/// Resident blocks of 512 threads on an SM. fp32 takes 70 to 90 registers a thread; two blocks
/// leave 64.
template <class T>
constexpr int kMinBlocks = sizeof(T) == 4 ? 1 : 2;

template <class T, bool kClustered>
__global__ void __launch_bounds__(kThreads, kMinBlocks<T>)
    ring_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t rows, int cols,
                int rows_per_cluster, int stages) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr bool kKeep = sizeof(T) == 4;  // whether registers keep the exponentials
  using Exchange = rows::Exchange<kClustered, kThreads / 32>;
  extern __shared__ __align__(128) unsigned char dynamic[];
  __shared__ typename Exchange::Shared shared;
  Exchange exchange(shared);
  rows::WarpRing<kVectors> ring(dynamic, stages);

  const rows::Cluster cluster = exchange.cluster;
  const auto clusters = static_cast<int>(gridDim.x) / cluster.size;
  const auto id = static_cast<int>(blockIdx.x) / cluster.size;
  // A cluster takes every `clusters`-th row, a block without a cluster consecutive rows.
  const std::int64_t stride = kClustered ? clusters : 1;
  const std::int64_t first = kClustered ? id : std::int64_t{id} * rows_per_cluster;
  const std::int64_t past = kClustered ? rows : min(rows, first + rows_per_cluster);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int begin = exchange.warp() * kVectors * 32;  // this warp's first vector of a row

  const auto shape_of = [&](std::int64_t row) {
    return rows::shape_of<true>(x + row * cols, cols);
  };
  const auto vectors_of = [&](const rows::RowShape<T>& shape) {
    return max(0, min(kVectors * 32, shape.body - begin));
  };
  const auto offset_of = [&](std::int64_t row, const rows::RowShape<T>& shape) {
    return row * cols + shape.head + std::int64_t{begin} * kWidth;
  };
  const auto prefetch = [&](int ahead, std::int64_t row) {
    if (row >= past) return;
    const auto shape = shape_of(row);
    ring.prefetch(ahead, vectors_of(shape) * rows::kVectorBytes, x + offset_of(row, shape));
  };
  const auto edge_of = [&](const rows::RowShape<T>& shape) {
    return cluster.rank == 0 ? shape.edge_column(static_cast<int>(threadIdx.x)) : cols;
  };
  const auto edge_value_of = [&](std::int64_t row) {
    if (row >= past) return -INFINITY;
    const int edge = edge_of(shape_of(row));
    return edge < cols ? widen(x[row * cols + edge]) : -INFINITY;
  };

  for (int s = 0; s < stages; ++s) prefetch(s, first + s * stride);
  float next_edge = edge_value_of(first);
  exchange.start();
#pragma unroll 1
  for (std::int64_t row = first; row < past; row += stride) {
    const auto shape = shape_of(row);
    const int mine = vectors_of(shape);
    float edge_value = next_edge;
    next_edge = edge_value_of(row + stride);
    rows::Packed in[kVectors];
    ring.wait();
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      in[i] = rows::padding<T, rows::Pad::minus_infinity>();
      if (i * 32 + lane < mine) in[i] = ring.vector(0, i);
    }
    ring.release();
    prefetch(stages - 1, row + stages * stride);

    float max = edge_value;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) max = fmaxf(max, max_of<T>(in[i]));
    Part warp = {rows::warp_max(max), 0};
    const float relative_to = anchor(warp.x);
    const float edge_exp = exp_of(edge_value - relative_to);
    float sums[4] = {edge_exp, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      float value[kWidth];
      rows::unpack<T>(in[i], value);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        value[e] = kKeep ? exp_of(value[e] - relative_to)
                         : exp2_of(fmaf(value[e], kLog2E, -relative_to * kLog2E));
        sums[e % 4] += value[e];
      }
      if constexpr (kKeep) in[i] = rows::pack<T>(value);
    }
    warp.y = rows::warp_sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    const Part whole = merge(exchange.all(warp), exchange.warps);
    const float scale = exp_of(relative_to - anchor(whole.x)) * reciprocal_of(whole.y);
    const float exponent = -(anchor(whole.x) * kLog2E + __log2f(whole.y));

    T* const to = y + offset_of(row, shape);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (i * 32 + lane >= mine) continue;
      float value[kWidth];
      rows::unpack<T>(in[i], value);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        value[e] = kKeep ? value[e] * scale : exp2_of(fmaf(value[e], kLog2E, exponent));
      }
      __stcs(reinterpret_cast<rows::Packed*>(to + (i * 32 + lane) * kWidth), rows::pack<T>(value));
    }
    if (const int edge = edge_of(shape); edge < cols) {
      y[row * cols + edge] = narrow<T>(edge_exp * scale);
    }
  }
}

template <class T>
const void* find(const rows::Layout& layout) {
  return layout.cluster > 1 ? reinterpret_cast<const void*>(&ring_kernel<T, true>)
                            : reinterpret_cast<const void*>(&ring_kernel<T, false>);
}

constexpr Problem configuration(std::int64_t cluster, std::int64_t rows_per_cluster,
                                std::int64_t stages) {
  return {.dtype = DType::fp32, .values = {0, 0, cluster, rows_per_cluster, stages}};
}
constexpr std::array kConfigurations = {configuration(kToChoose, kToChoose, 1),
                                        configuration(2, 3, 2), configuration(8, 1, 1),
                                        configuration(16, 2, 3)};

std::size_t shared_bytes(const Problem& p) {
  return static_cast<std::size_t>(roofcast::rows::ring_bytes(cluster_layout(p), p[kStages], 1));
}

std::string unsupported(const Problem& p) {
  constexpr std::size_t kMostShared = 220 * 1024;  // leaves room for Exchange::Shared
  const std::string why = unsupported_problem(p);
  if (!why.empty()) return why;
  if (const std::string why = rows::unsupported_cluster(p[kCluster]); !why.empty()) return why;
  if (p[kRowsPerCluster] < 1 || p[kStages] < 1) {
    return "rows_per_cluster and stages must be at least 1";
  }
  const rows::Layout layout = cluster_layout(p);
  if (layout.threads > kThreads) {
    return "a row of " + std::to_string(p[rows::kCols]) + " " + std::string(name(p.dtype)) +
           " is more than 64 KB for each of " + std::to_string(layout.cluster) +
           " blocks: use a larger cluster or softmax.online";
  }
  if (shared_bytes(p) > kMostShared) {
    return std::to_string(p[kStages]) + " stages do not fit shared memory: use fewer";
  }
  if (!rows::has_clusters()) {
    return "this device has no bulk copies (compute capability 9.0): use softmax.registers";
  }
  return rows::unsupported_layout(p, layout, "softmax.online");
}

std::vector<Launch> launches(const Problem& p) {
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = cluster_layout(p);
    return std::vector{Launch{find<T>(layout), rows::grid_of(layout, p[rows::kRows]),
                              rows::block_of(layout), shared_bytes(p)}};
  });
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    if (!rows::same_shift(at.inputs[0], at.outputs[0])) {
      rows::Layout by_element;
      by_element.threads = 256;
      launch<T>(online_by_element<T>(), by_element, p, at, stream);
      return;
    }
    const rows::Layout layout = cluster_layout(p);
    const void* x = at.inputs[0];
    void* y = at.outputs[0];
    std::int64_t rows = p[rows::kRows];
    int cols = static_cast<int>(p[rows::kCols]);
    int rows_per_cluster = static_cast<int>(layout.rows_per_cluster),
        stages = static_cast<int>(p[kStages]);
    void* arguments[] = {&x, &y, &rows, &cols, &rows_per_cluster, &stages};
    rows::launch(find<T>(layout), rows::grid_of(layout, rows), rows::block_of(layout), arguments,
                 stream, {.cluster = layout.cluster, .shared_bytes = shared_bytes(p)});
  });
}

}  // namespace

KernelEntry cluster() {
  return {.name = "softmax.cluster",
          .configurations = kConfigurations,
          .unsupported = unsupported,
          .tensors = tensors,
          .launches = launches,
          .run = run,
          .reference = reference,
          .tolerance = tolerance};
}

}  // namespace roofcast::cuda::softmax
