// Normalization forward, the row in registers: x is read once, y written once.
//
// As softmax.registers (kernels/softmax/registers.cu): a warp a row, a block a row, or a cluster of
// blocks a row, such that several blocks with at most 32 KB of a row each fit an SM and keep bytes
// in flight. What differs:
//   - γ and β are asked for by every row. They come from L1, where the blocks of an SM keep them as
//     long as γ, β and a row of each block fit. They are loaded after the statistics: held
//     meanwhile they would take as many registers as x does, and halve the rows in flight. A row's
//     first vector lies at a column that depends on the row's address where rows are ragged: γ and
//     β are then read as two aligned vectors and shifted together.
//   - The variance is that of the centred elements, never Σx² - (Σx)²/n, which cancels. Each warp
//     centres by its own mean; parts of n elements, mean m and sum of squares q merge by
//     q = Σ q_i + Σ n_i·(m_i - m)²  (Chan, Golub, LeVeque 1979): one exchange in place of two.
#include <array>
#include <string>

#include "kernels/norm/norm.cuh"

namespace roofcast::cuda::norm {
namespace {

using roofcast::norm::forward_layout;
using roofcast::norm::kMostThreads;

constexpr int kMaxThreads = static_cast<int>(kMostThreads);
constexpr int kMaxWarps = kMaxThreads / 32;

/// A part's number of elements (x), mean (y) and sum of squares about it (z). For rmsnorm the mean
/// is 0 and squares are about 0.
using Part = float4;

__device__ float rsqrt_of(float mean_square) {
  return rsqrtf(mean_square + static_cast<float>(kEpsilon));
}

/// The whole row from its parts, for every warp by itself: mean (x) and mean square about it (y).
__device__ float2 merge(const Part* parts, int count, int cols) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float share = 1.0F / static_cast<float>(cols);
  float sum = 0, squares = 0;
#pragma unroll 1
  for (int i = lane; i < count; i += 32) sum += parts[i].x * parts[i].y;
  const float mean = rows::warp_sum(sum) * share;
#pragma unroll 1
  for (int i = lane; i < count; i += 32) {
    const float off = parts[i].y - mean;
    squares += parts[i].z + parts[i].x * off * off;
  }
  return {mean, rows::warp_sum(squares) * share};
}

template <class T, int kVectors, Kind kKind, bool kClustered>
__global__ __launch_bounds__(kMaxThreads, 2) void forward_kernel(Forward<T> at, std::int64_t rows,
                                                                 int cols) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr bool kCentred = kKind == Kind::layernorm;
  constexpr int kParts = kMaxWarps * (kClustered ? static_cast<int>(rows::kMaxCluster) : 1);
  __shared__ Part parts[kParts];
  const auto cluster = kClustered ? rows::Cluster::here() : rows::Cluster{0, 1};
  if constexpr (kClustered) cluster.arrive();  // wait: before the first store to another block

  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t row = kClustered
                               ? std::int64_t{blockIdx.x / static_cast<unsigned>(cluster.size)}
                               : std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // a whole warp, in blocks with a row for each warp: no barrier follows
  const T* const from = at.x + row * cols;
  T* const to = at.y + row * cols;
  const rows::RowShape<T> shape = rows::shape_of<true>(from, cols);
  const int slice = (shape.body + cluster.size - 1) / cluster.size;
  const int end = min(shape.body, (cluster.rank + 1) * slice);
  const int first = cluster.rank * slice + thread;
  const auto vector = [&](int i) { return first + i * threads; };
  const auto column = [&](int i) { return shape.head + vector(i) * kWidth; };
  const int edge = cluster.rank == 0 ? shape.edge_column(thread) : cols;

  rows::Packed in[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    in[i] = rows::padding<T, rows::Pad::zero>();
    if (vector(i) < end) in[i] = rows::load_packed<true>(from + column(i));
  }
  float edge_value = edge < cols ? widen(from[edge]) : 0.0F;

  float value[kVectors * kWidth];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) rows::unpack<T>(in[i], value + i * kWidth);
  Part warp = {0, 0, 0, 0};
  if constexpr (kCentred) {
    float sum = edge_value;
#pragma unroll
    for (int i = 0; i < kVectors * kWidth; ++i) sum += value[i];
    int elements = edge < cols ? 1 : 0;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) elements += vector(i) < end ? kWidth : 0;
    warp.x = static_cast<float>(__reduce_add_sync(rows::kAllLanes, elements));
    warp.y = warp.x > 0 ? rows::warp_sum(sum) / warp.x : 0.0F;
  }
  float squares = edge < cols ? (edge_value - warp.y) * (edge_value - warp.y) : 0.0F;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (vector(i) >= end) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float off = value[i * kWidth + e] - warp.y;
      squares = fmaf(off, off, squares);
    }
  }
  warp.z = rows::warp_sum(squares);

  float2 whole = {warp.y, warp.z / static_cast<float>(cols)};
  const int warps = threads / 32;
  if constexpr (kClustered) {
    cluster.wait();
    if (thread % 32 < cluster.size) {
      cluster.store(&parts[cluster.rank * warps + thread / 32], thread % 32, warp);
    }
    cluster.arrive();
    cluster.wait();
    whole = merge(parts, cluster.size * warps, cols);
  } else if (warps > 1) {
    if (thread % 32 == 0) parts[thread / 32] = warp;
    __syncthreads();
    whole = merge(parts, warps, cols);
  }
  const float mean = kCentred ? whole.x : 0.0F, rstd = rsqrt_of(whole.y);

#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (vector(i) >= end) continue;
    float scale[kWidth], shift[kWidth];
    rows::unpack<T>(rows::load_shifted(at.gamma + column(i)), scale);
    if constexpr (kCentred) rows::unpack<T>(rows::load_shifted(at.beta + column(i)), shift);
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float normal = (value[i * kWidth + e] - mean) * rstd;
      value[i * kWidth + e] = kCentred ? fmaf(normal, scale[e], shift[e]) : normal * scale[e];
    }
    rows::store_packed<true>(to + column(i), rows::pack<T>(value + i * kWidth));
  }
  if (edge < cols) {
    const float normal = (edge_value - mean) * rstd * widen(at.gamma[edge]);
    to[edge] = narrow<T>(kCentred ? normal + widen(at.beta[edge]) : normal);
  }
  if (thread == 0 && cluster.rank == 0) {
    if constexpr (kCentred) at.mean[row] = mean;
    at.rstd[row] = rstd;
  }
}

/// Three sweeps element by element, for x and y that are not equally far past a multiple of 16
/// bytes, over the grid of the others: of a cluster only the first block works.
template <class T, Kind kKind>
__global__ __launch_bounds__(kMaxThreads, 1) void by_element_kernel(Forward<T> at,
                                                                    std::int64_t rows, int cols,
                                                                    int cluster) {
  __shared__ float sums[2][kMaxWarps];
  if (blockIdx.x % static_cast<unsigned>(cluster) != 0) return;
  const std::int64_t row =
      std::int64_t{blockIdx.x / static_cast<unsigned>(cluster)} * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const T* const from = at.x + row * cols;
  const auto mean_of_row = [&](float mine, float* of_warps) {
    float sum = rows::warp_sum(mine);
    if (threads > 32) {
      if (thread % 32 == 0) of_warps[thread / 32] = sum;
      __syncthreads();
      sum = rows::warp_sum(thread % 32 < threads / 32 ? of_warps[thread % 32] : 0.0F);
    }
    return sum / static_cast<float>(cols);
  };
  float sum = 0, squares = 0;
  if constexpr (kKind == Kind::layernorm) {
    for (int c = thread; c < cols; c += threads) sum += widen(from[c]);
  }
  const float mean = kKind == Kind::layernorm ? mean_of_row(sum, sums[0]) : 0.0F;
  for (int c = thread; c < cols; c += threads) {
    const float off = widen(from[c]) - mean;
    squares = fmaf(off, off, squares);
  }
  const float rstd = rsqrt_of(mean_of_row(squares, sums[1]));
  for (int c = thread; c < cols; c += threads) {
    const float scaled = (widen(from[c]) - mean) * rstd * widen(at.gamma[c]);
    at.y[row * cols + c] =
        narrow<T>(kKind == Kind::layernorm ? scaled + widen(at.beta[c]) : scaled);
  }
  if (thread == 0) {
    if constexpr (kKind == Kind::layernorm) at.mean[row] = mean;
    at.rstd[row] = rstd;
  }
}

template <class T>
using Held = void (*)(Forward<T>, std::int64_t rows, int cols);

/// The compiled kernel that holds that many vectors a thread, or nullptr.
template <class T, Kind kKind, bool kClustered>
Held<T> held(std::int64_t vectors) {
  constexpr int kMost = 2 * static_cast<int>(sizeof(T));
  if (vectors == kMost) return forward_kernel<T, kMost, kKind, kClustered>;
  if (vectors == kMost / 2) return forward_kernel<T, kMost / 2, kKind, kClustered>;
  if constexpr (!kClustered) {
    if (vectors == 1) return forward_kernel<T, 1, kKind, kClustered>;
    if (vectors == 2) return forward_kernel<T, 2, kKind, kClustered>;
  }
  return nullptr;
}

template <class T>
Held<T> find(Kind kind, const rows::Layout& layout) {
  if (kind == Kind::layernorm) {
    return layout.cluster > 1 ? held<T, Kind::layernorm, true>(layout.vectors)
                              : held<T, Kind::layernorm, false>(layout.vectors);
  }
  return layout.cluster > 1 ? held<T, Kind::rmsnorm, true>(layout.vectors)
                            : held<T, Kind::rmsnorm, false>(layout.vectors);
}

template <class T>
Forward<T> arguments(Kind kind, const Addresses& at) {
  const bool centred = kind == Kind::layernorm;
  const auto in = [&](std::size_t i) { return static_cast<const T*>(at.inputs[i]); };
  const auto statistic = [&](std::size_t i) { return static_cast<float*>(at.outputs[i]); };
  return {in(0),
          in(1),
          centred ? in(2) : nullptr,
          static_cast<T*>(at.outputs[0]),
          centred ? statistic(1) : nullptr,
          statistic(centred ? 2 : 1)};
}

}  // namespace

std::string unsupported_forward(Kind kind, const Problem& p) {
  const rows::Layout layout = forward_layout(p);
  return visit(p.dtype, [&]<class T>(std::type_identity<T>) -> std::string {
    if (find<T>(kind, layout) == nullptr) {
      return "compiled for at most " + std::to_string(roofcast::norm::most_vectors(p)) +
             " vectors a thread of " + std::string(name(p.dtype)) +
             ", a power of two, in clusters at least half of that; asked for " +
             std::to_string(layout.vectors);
    }
    if (layout.threads > kMostThreads) {
      return "a row of " + std::to_string(p[rows::kCols]) + " " + std::string(name(p.dtype)) +
             " needs more than " + std::to_string(kMostThreads) + " threads of " +
             std::to_string(layout.vectors) + " vectors in " + std::to_string(layout.cluster) +
             " blocks: choose a larger cluster, at most 16";
    }
    return rows::unsupported_layout(p, layout, "a larger cluster");
  });
}

std::vector<Launch> forward_launches(Kind kind, const Problem& p) {
  return visit(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = forward_layout(p);
    return std::vector{Launch{reinterpret_cast<const void*>(find<T>(kind, layout)),
                              rows::grid_of(layout, p[rows::kRows]), rows::block_of(layout), 0}};
  });
}

void run_forward(Kind kind, const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = forward_layout(p);
    Forward<T> tensors = arguments<T>(kind, at);
    std::int64_t rows = p[rows::kRows];
    int cols = static_cast<int>(p[rows::kCols]);
    int cluster = static_cast<int>(layout.cluster);
    void* arguments[] = {&tensors, &rows, &cols, &cluster};  // the last: by_element only
    const auto* function = reinterpret_cast<const void*>(find<T>(kind, layout));
    if (!rows::same_shift(tensors.x, tensors.y)) {
      function = kind == Kind::layernorm
                     ? reinterpret_cast<const void*>(&by_element_kernel<T, Kind::layernorm>)
                     : reinterpret_cast<const void*>(&by_element_kernel<T, Kind::rmsnorm>);
    }
    rows::launch(function, rows::grid_of(layout, rows), rows::block_of(layout), layout.cluster,
                 arguments, stream);
  });
}

}  // namespace roofcast::cuda::norm
