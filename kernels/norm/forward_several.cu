// Normalization forward of long rows in registers: a block, or a cluster of blocks, takes several
// rows one after the other. This is for staging `registers`, as ragged rows (no multiple of 16
// bytes) and devices without bulk copies need it; forward_ring.cu is faster where it can run.
//
// A row beyond 8192 elements is sliced among the registers of a cluster's blocks (compute
// capability 9.0), 32 KB of fp32 each, or 64 KB with the most vectors a thread. With one row a
// cluster γ and β would come from L2 for every row: L2 would be read three times as much as x
// alone, and would limit at 0.7 of the copy rate. So each thread keeps γ and β of its columns in
// shared memory for all rows of its block; no other thread reads them. With 8 rows L2 is read
// 1 + 2/8 times x.
//   - The next row's x is loaded before this row's statistics are exchanged, so loads are in flight
//     while the warps wait for each other.
//   - Each warp sends its part of the statistics to the shared memory of every block of the
//     cluster. Rows alternate between two slots there, so one barrier a row suffices.
//   - The vectors of a ragged row lie at other columns than those of the row before, so γ and β
//     are read from global memory for each row.
//   - With the most vectors a thread registers hold one row only: nothing is loaded ahead, and γ
//     and β are read for each row.
#include "kernels/norm/forward.cuh"

namespace roofcast::cuda::norm {
namespace {

/// Whether registers hold this row and the next, with two blocks resident on an SM.
template <class T, int kVectors>
constexpr bool kHoldsTwo = kVectors* rows::kWidth<T> <= 16;
template <class T, int kVectors>
constexpr int kMinBlocks = kHoldsTwo<T, kVectors> ? 2 : 1;

template <class T, int kVectors, Kind kKind, bool kClustered>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocks<T, kVectors>)
    several_rows_kernel(Forward<T> at, std::int64_t rows, int cols, int rows_per_cluster) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr bool kCentred = kKind == Kind::layernorm;
  constexpr bool kAhead = kHoldsTwo<T, kVectors>;
  constexpr int kParts = kMaxWarps * (kClustered ? static_cast<int>(rows::kMaxCluster) : 1);
  extern __shared__ rows::Packed kept[];  // γ, then β: [vector][thread]
  __shared__ Part parts[2][kParts];       // of this row, and of the previous one, still being read
  const auto cluster = kClustered ? rows::Cluster::here() : rows::Cluster{0, 1};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warps = threads / 32;
  const std::int64_t begin =
      std::int64_t{blockIdx.x / static_cast<unsigned>(cluster.size)} * rows_per_cluster;
  const std::int64_t past = min(rows, begin + rows_per_cluster);
  const bool same_columns = std::int64_t{cols} * sizeof(T) % rows::kVectorBytes == 0;

  /// This thread's vectors of a row: columns before the first vector of the row, this thread's
  /// first vector, the end of the block's slice (vectors), and the column of the edge element.
  struct Place {
    int head, first, end, edge;
  };
  const auto place_of = [&](std::int64_t row) {
    const rows::RowShape<T> shape = rows::shape_of<true>(at.x + row * cols, cols);
    const int slice = (shape.body + cluster.size - 1) / cluster.size;
    return Place{shape.head, cluster.rank * slice + thread,
                 min(shape.body, (cluster.rank + 1) * slice),
                 cluster.rank == 0 ? shape.edge_column(thread) : cols};
  };
  const auto in_row = [&](const Place& place, int i) {
    return place.first + i * threads < place.end;
  };
  const auto column = [&](const Place& place, int i) {
    return place.head + (place.first + i * threads) * kWidth;
  };

  rows::Packed next[kVectors];
  float next_edge = 0;
  const auto load_row = [&](std::int64_t row) {
    const Place place = place_of(row);
    const T* const from = at.x + row * cols;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      next[i] = rows::padding<T, rows::Pad::zero>();
      if (in_row(place, i)) next[i] = rows::load_packed<true>(from + column(place, i));
    }
    next_edge = place.edge < cols ? widen(from[place.edge]) : 0.0F;
  };

  if constexpr (kAhead) load_row(begin);
  if (same_columns && kAhead) {
    const Place place = place_of(begin);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!in_row(place, i)) continue;
      kept[i * threads + thread] = rows::load_shifted(at.gamma + column(place, i));
      if constexpr (kCentred) {
        kept[(kVectors + i) * threads + thread] = rows::load_shifted(at.beta + column(place, i));
      }
    }
  }
  if constexpr (kClustered) {  // a block must have started before others store to it
    cluster.arrive();
    cluster.wait();
  }

  int slot = 0;
#pragma unroll 1
  for (std::int64_t row = begin; row < past; ++row, slot ^= 1) {
    if constexpr (!kAhead) load_row(row);
    float value[kVectors * kWidth];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) rows::unpack<T>(next[i], value + i * kWidth);
    const float edge_value = next_edge;
    if constexpr (kAhead) {
      if (row + 1 < past) load_row(row + 1);
    }
    const Place place = place_of(row);
    const Part warp = part_of_warp<kKind, kWidth, kVectors>(
        value, [&](int i) { return in_row(place, i); }, place.edge < cols, edge_value);
    if constexpr (kClustered) {
      if (thread % 32 < cluster.size) {
        cluster.store(&parts[slot][cluster.rank * warps + thread / 32], thread % 32, warp);
      }
      cluster.arrive();
      cluster.wait();
    } else {
      if (thread % 32 == 0) parts[slot][thread / 32] = warp;
      __syncthreads();
    }
    const float2 whole = merge(parts[slot], cluster.size * warps, cols);
    const float mean = kCentred ? whole.x : 0.0F, rstd = rsqrt_of(whole.y);

    T* const to = at.y + row * cols;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      if (!in_row(place, i)) continue;
      rows::Packed gamma, beta;
      if (same_columns && kAhead) {
        gamma = kept[i * threads + thread];
        beta = kCentred ? kept[(kVectors + i) * threads + thread] : gamma;
      } else {
        gamma = rows::load_shifted(at.gamma + column(place, i));
        beta = kCentred ? rows::load_shifted(at.beta + column(place, i)) : gamma;
      }
      rows::store_packed<true>(to + column(place, i),
                               normalized<kKind, T>(value + i * kWidth, mean, rstd, gamma, beta));
    }
    if (place.edge < cols) {
      to[place.edge] = normalized_one<kKind>(at, edge_value, mean, rstd, place.edge);
    }
    if (thread == 0 && cluster.rank == 0) {
      if constexpr (kCentred) at.mean[row] = mean;
      at.rstd[row] = rstd;
    }
  }
}

template <class T, Kind kKind>
ForwardKernel<T> find(const rows::Layout& layout) {
  constexpr int kMost = 2 * static_cast<int>(sizeof(T));
  const bool clustered = layout.cluster > 1;
  if (layout.vectors == kMost) {
    return clustered ? several_rows_kernel<T, kMost, kKind, true> : nullptr;
  }
  if (layout.vectors == kMost / 2) {
    return clustered ? several_rows_kernel<T, kMost / 2, kKind, true>
                     : several_rows_kernel<T, kMost / 2, kKind, false>;
  }
  return nullptr;
}

}  // namespace

template <class T>
ForwardKernel<T> find_several(Kind kind, const rows::Layout& layout) {
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(layout)
                                 : find<T, Kind::rmsnorm>(layout);
}
template ForwardKernel<float> find_several<float>(Kind, const rows::Layout&);
template ForwardKernel<__half> find_several<__half>(Kind, const rows::Layout&);
template ForwardKernel<__nv_bfloat16> find_several<__nv_bfloat16>(Kind, const rows::Layout&);

}  // namespace roofcast::cuda::norm
