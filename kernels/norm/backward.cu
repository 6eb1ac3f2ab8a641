// Normalization backward: x and dy are read once, dx is written once, and dγ and dβ are summed over
// all rows without atomics, so a second run gives the same bits.
//
//   1. All blocks of the grid are resident at once. A warp (short rows), a block or a cluster (long
//      rows) takes a strip: every s-th row, with s strips. A thread has the same columns in every
//      row and adds up their dγ and dβ in registers. Warps exchange the two sums over a row as in
//      the forward pass. The next row's x and dy are loaded before this row is reduced. At the end
//      each strip writes its partial dγ and dβ, a row of fp32 each.
//   2. A block for 32 columns adds the partial sums of all strips in a fixed order.
//
// With staging `shared` rows go through backward_ring.cu where the addresses allow it.
//
// Bytes: 3 arrays of n, γ once a strip, and the partial sums, written and read: 16 bytes (rmsnorm:
// 8) for each column and strip. With s strips and fp32 elements that is 16·s / (12·rows) of the
// three arrays.
#include <array>
#include <string>

#include "kernels/norm/norm.cuh"

namespace roofcast::cuda::norm {
namespace {

using roofcast::norm::backward_blocks;
using roofcast::norm::backward_layout;
using roofcast::norm::backward_ring_layout;
using roofcast::norm::kBackwardElements;
using roofcast::norm::kFinishColumns;
using roofcast::norm::kFinishThreads;
using roofcast::norm::kMostThreads;
using roofcast::norm::kRingStages;

constexpr int kMaxThreads = static_cast<int>(kMostThreads);

/// The columns of one thread, with their loads and stores: vectors, or, where rows or addresses are
/// no multiples of 16 bytes, single elements, next to those of the neighbouring threads.
template <class T, bool kAligned>
struct Columns {
  static constexpr int kWidth = rows::kWidth<T>;
  int begin, end;  ///< columns of this block's slice
  int thread, threads;

  __device__ int column(int i, int e) const {
    return kAligned ? begin + (thread + i * threads) * kWidth + e
                    : begin + (i * kWidth + e) * threads + thread;
  }
  __device__ rows::Packed load(const T* row, int i) const {
    rows::Packed packed = rows::padding<T, rows::Pad::zero>();
    if constexpr (kAligned) {
      if (column(i, 0) < end) packed = rows::load_packed<true>(row + column(i, 0));
    } else {
      Vector<T, rows::kVectorBytes> vector;
      __builtin_memcpy(&vector, &packed, sizeof(packed));
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        if (column(i, e) < end) vector.element[e] = row[column(i, e)];
      }
      __builtin_memcpy(&packed, &vector, sizeof(packed));
    }
    return packed;
  }
  __device__ void store(T* row, int i, const rows::Packed& packed) const {
    if constexpr (kAligned) {
      if (column(i, 0) < end) rows::store_packed<true>(row + column(i, 0), packed);
    } else {
      Vector<T, rows::kVectorBytes> vector;
      __builtin_memcpy(&vector, &packed, sizeof(packed));
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        if (column(i, e) < end) row[column(i, e)] = vector.element[e];
      }
    }
  }
};

/// Σg and Σ(g·x̂) of a row.
using Sums = float2;

__device__ Sums add_up(const Sums* parts, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Sums mine = {0, 0};
#pragma unroll 1
  for (int i = lane; i < count; i += 32) mine.x += parts[i].x, mine.y += parts[i].y;
  return {rows::warp_sum(mine.x), rows::warp_sum(mine.y)};
}

template <class T, Kind kKind, bool kAligned, bool kClustered>
__global__ void __launch_bounds__(kMaxThreads, 1)
    backward_kernel(Backward<T> at, std::int64_t rows, int cols) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr int kVectors = static_cast<int>(kBackwardElements) / kWidth;
  constexpr int kElements = kVectors * kWidth;
  constexpr bool kCentred = kKind == Kind::layernorm;
  constexpr int kParts = kMaxThreads / 32 * (kClustered ? static_cast<int>(rows::kMaxCluster) : 1);
  __shared__ Sums parts[2][kParts];  // of this row, and of the previous one, still being read
  const auto cluster = kClustered ? rows::Cluster::here() : rows::Cluster{0, 1};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warps = threads / 32;

  const unsigned strip =
      blockIdx.x / static_cast<unsigned>(cluster.size) * blockDim.y + threadIdx.y;
  const std::int64_t stride =
      std::int64_t{gridDim.x / static_cast<unsigned>(cluster.size)} * blockDim.y;
  const int width_of_slice = kAligned ? kWidth : 1;
  const int slots = (cols + width_of_slice - 1) / width_of_slice;
  const int slice = (slots + cluster.size - 1) / cluster.size * width_of_slice;
  const Columns<T, kAligned> mine = {cluster.rank * slice, min(cols, (cluster.rank + 1) * slice),
                                     thread, threads};

  rows::Packed gamma[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) gamma[i] = mine.load(at.gamma, i);
  float dgamma[kElements] = {}, dbeta[kCentred ? kElements : 1] = {};

  rows::Packed next_x[kVectors], next_dy[kVectors];
  float next_mean = 0, next_rstd = 0;
  const auto load_row = [&](std::int64_t row) {
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      next_x[i] = mine.load(at.x + row * cols, i);
      next_dy[i] = mine.load(at.dy + row * cols, i);
    }
    if constexpr (kCentred) next_mean = at.mean[row];
    next_rstd = at.rstd[row];
  };

  if constexpr (kClustered) {
    cluster.arrive();
    cluster.wait();
  }
  if constexpr (kAligned) load_row(strip);
  int slot = 0;
#pragma unroll 1
  for (std::int64_t row = strip; row < rows; row += stride, slot ^= 1) {
    if constexpr (!kAligned) load_row(row);  // single elements leave registers for one row only
    float normal[kElements], dy[kElements];
    const float mean = next_mean, rstd = next_rstd;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      rows::unpack<T>(next_x[i], normal + i * kWidth);
      rows::unpack<T>(next_dy[i], dy + i * kWidth);
    }
    if constexpr (kAligned) load_row(row + stride);

    Sums sums = {0, 0};
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      float scale[kWidth];
      rows::unpack<T>(gamma[i], scale);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const int k = i * kWidth + e;
        normal[k] = (normal[k] - mean) * rstd;  // beyond the row dy and γ are 0: they add nothing
        dgamma[k] = fmaf(dy[k], normal[k], dgamma[k]);
        if constexpr (kCentred) dbeta[k] += dy[k];
        dy[k] *= scale[e];  // from here on g
        if constexpr (kCentred) sums.x += dy[k];
        sums.y = fmaf(dy[k], normal[k], sums.y);
      }
    }
    if constexpr (kCentred) sums.x = rows::warp_sum(sums.x);
    sums.y = rows::warp_sum(sums.y);
    if constexpr (kClustered) {
      if (thread % 32 < cluster.size) {
        cluster.store(&parts[slot][cluster.rank * warps + thread / 32], thread % 32, sums);
      }
      cluster.arrive();
      cluster.wait();
      sums = add_up(parts[slot], cluster.size * warps);
    } else if (warps > 1) {
      if (thread % 32 == 0) parts[slot][thread / 32] = sums;
      __syncthreads();
      sums = add_up(parts[slot], warps);
    }
    const float share = 1.0F / static_cast<float>(cols);
    const float g_mean = sums.x * share, gx_mean = sums.y * share;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const int k = i * kWidth + e;
        dy[k] = rstd * (dy[k] - g_mean - normal[k] * gx_mean);
      }
      mine.store(at.dx + row * cols, i, rows::pack<T>(dy + i * kWidth));
    }
  }

  const std::int64_t to = std::int64_t{strip} * cols;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const int column = mine.column(i, e);
      if (column >= mine.end) continue;
      at.partial_gamma[to + column] = dgamma[i * kWidth + e];
      if constexpr (kCentred) at.partial_beta[to + column] = dbeta[i * kWidth + e];
    }
  }
}

/// Adds the strips' partial sums to dγ and dβ. Thread x has a column, thread y every 32nd strip.
template <class T, Kind kKind>
__global__ void finish_kernel(Backward<T> at, int strips, int cols) {
  constexpr int kRows = static_cast<int>(kFinishThreads), kCols = static_cast<int>(kFinishColumns);
  __shared__ float sums[kRows][kCols + 1];
  const int column = static_cast<int>(blockIdx.x) * kCols + static_cast<int>(threadIdx.x);
  const auto finish = [&](const float* partial, T* to) {
    float sum = 0;
    if (column < cols) {
#pragma unroll 8
      for (int s = static_cast<int>(threadIdx.y); s < strips; s += kRows) {
        sum += partial[std::int64_t{s} * cols + column];
      }
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    sum = rows::warp_sum(sums[threadIdx.x][threadIdx.y]);  // warp y adds up column y
    const int of_warp = static_cast<int>(blockIdx.x) * kCols + static_cast<int>(threadIdx.y);
    if (threadIdx.x == 0 && of_warp < cols) to[of_warp] = narrow<T>(sum);
    __syncthreads();
  };
  finish(at.partial_gamma, at.dgamma);
  if constexpr (kKind == Kind::layernorm) finish(at.partial_beta, at.dbeta);
}

template <class T, Kind kKind>
const void* find(bool aligned, bool clustered) {
  if (aligned) {
    return clustered ? reinterpret_cast<const void*>(&backward_kernel<T, kKind, true, true>)
                     : reinterpret_cast<const void*>(&backward_kernel<T, kKind, true, false>);
  }
  return clustered ? reinterpret_cast<const void*>(&backward_kernel<T, kKind, false, true>)
                   : reinterpret_cast<const void*>(&backward_kernel<T, kKind, false, false>);
}

template <class T>
const void* find(Kind kind, bool aligned, bool clustered) {
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(aligned, clustered)
                                 : find<T, Kind::rmsnorm>(aligned, clustered);
}

template <class T>
const void* find_finish(Kind kind) {
  return kind == Kind::layernorm ? reinterpret_cast<const void*>(&finish_kernel<T, Kind::layernorm>)
                                 : reinterpret_cast<const void*>(&finish_kernel<T, Kind::rmsnorm>);
}

std::int64_t blocks(const Problem& p) {
  return backward_blocks(p, backward_layout(p), rows::sm_count());
}

std::int64_t held_strips(const Problem& p) {
  return blocks(p) * backward_layout(p).rows_per_block;
}

std::int64_t ring_blocks(const Problem& p) {
  return roofcast::norm::backward_ring_blocks(p, rows::sm_count());
}

Launch ring_launch(Kind kind, const Problem& p) {
  const rows::Layout layout = backward_ring_layout(p);
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    return Launch{find_backward_ring<T>(kind, layout.cluster > 1),
                  static_cast<unsigned>(ring_blocks(p) * layout.cluster), rows::block_of(layout),
                  static_cast<std::size_t>(roofcast::rows::ring_bytes(layout, kRingStages, 2))};
  });
}

dim3 grid(const Problem& p) {
  return {static_cast<unsigned>(blocks(p) * backward_layout(p).cluster)};
}

dim3 finish_grid(const Problem& p) {
  return {static_cast<unsigned>(roofcast::ceil_div(p[rows::kCols], kFinishColumns))};
}
constexpr dim3 kFinishBlock = {kFinishColumns, kFinishThreads};

template <class T>
Backward<T> arguments(Kind kind, const Addresses& at) {
  const bool centred = kind == Kind::layernorm;
  const auto in = [&](std::size_t i) { return static_cast<const T*>(at.inputs[i]); };
  const auto statistic = [&](std::size_t i) { return static_cast<const float*>(at.inputs[i]); };
  const auto out = [&](std::size_t i) { return static_cast<T*>(at.outputs[i]); };
  return {in(0),
          in(1),
          in(2),
          centred ? statistic(3) : nullptr,
          statistic(centred ? 4 : 3),
          out(0),
          out(1),
          centred ? out(2) : nullptr,
          static_cast<float*>(at.scratch[0]),
          centred ? static_cast<float*>(at.scratch[1]) : nullptr};
}

}  // namespace

std::int64_t strips(const Problem& p) {
  return std::max(held_strips(p), is_streamed(p) ? ring_blocks(p) : 0);
}

std::string unsupported_backward(Kind /*kind*/, const Problem& p) {
  const rows::Layout layout = backward_layout(p);
  if (is_streamed(p) && backward_ring_layout(p).threads > kMostThreads) {
    return "rows in shared memory have at most 65536 elements in the backward pass";
  }
  if (layout.threads > kMostThreads) {
    return "the backward pass holds rows of at most " +
           std::to_string(rows::kMaxCluster * kMostThreads * kBackwardElements) + " " +
           std::string(name(p.dtype)) + "; asked for " + std::to_string(p[rows::kCols]);
  }
  return rows::unsupported_layout(p, layout, "shorter rows");
}

std::vector<Launch> backward_launches(Kind kind, const Problem& p) {
  return visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = backward_layout(p);
    const Launch held{find<T>(kind, roofcast::norm::rows_are_aligned(p), layout.cluster > 1),
                      grid(p), rows::block_of(layout), 0};
    return std::vector{is_streamed(p) ? ring_launch(kind, p) : held,
                       Launch{find_finish<T>(kind), finish_grid(p), kFinishBlock, 0}};
  });
}

void run_backward(Kind kind, const Problem& p, const Addresses& at, cudaStream_t stream) {
  visit_up_to_fp32(p.dtype, [&]<class T>(std::type_identity<T>) {
    const rows::Layout layout = backward_layout(p);
    Backward<T> tensors = arguments<T>(kind, at);
    const auto at_vector = [](const void* address) {
      return reinterpret_cast<std::uintptr_t>(address) % rows::kVectorBytes == 0;
    };
    const bool aligned = roofcast::norm::rows_are_aligned(p) && at_vector(tensors.x) &&
                         at_vector(tensors.dy) && at_vector(tensors.gamma) && at_vector(tensors.dx);
    std::int64_t rows = p[rows::kRows];
    int cols = static_cast<int>(p[rows::kCols]);
    int partials = static_cast<int>(held_strips(p));
    if (aligned && is_streamed(p)) {
      partials = static_cast<int>(ring_blocks(p));
      int stages = static_cast<int>(kRingStages);
      void* arguments[] = {&tensors, &rows, &cols, &stages};
      const Launch ring = ring_launch(kind, p);
      rows::launch(ring.function, ring.grid, ring.block, arguments, stream,
                   {.cluster = backward_ring_layout(p).cluster, .shared_bytes = ring.shared_bytes});
    } else {
      void* arguments[] = {&tensors, &rows, &cols};
      rows::launch(find<T>(kind, aligned, layout.cluster > 1), grid(p), rows::block_of(layout),
                   arguments, stream, {.cluster = layout.cluster});
    }
    void* finish_arguments[] = {&tensors, &partials, &cols};
    rows::launch(find_finish<T>(kind), finish_grid(p), kFinishBlock, finish_arguments, stream);
  });
}

}  // namespace roofcast::cuda::norm
