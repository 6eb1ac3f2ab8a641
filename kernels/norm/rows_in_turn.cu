// Normalization forward of long rows: a block, or a cluster of blocks, takes several rows one after
// the other.
//
// A row beyond 8192 elements has its slices in the registers of a cluster's blocks (compute
// capability 9.0), 32 KB of fp32 each. Were each row a cluster's only one, γ and β would come from
// L2 for every row: with x that is three times the reads of L2, and L2 would be the limit at 0.7 of
// the copy rate. Here each thread keeps the γ and β of its columns in shared memory, where no other
// thread looks for them, for all rows of its block: 8 rows make that 1 + 2/8 times.
//   - The next row's x is loaded before this row's statistics are exchanged, so the block's own
//     loads go on while its warps wait for each other.
//   - Parts of the statistics go into the shared memory of every block of the cluster, in two
//   places
//     that take turns: one barrier a row suffices.
//   - Ragged rows have their vectors at other columns each time: then γ and β come from L2 after
//     all.
#include "kernels/norm/forward.cuh"

namespace roofcast::cuda::norm {
namespace {

template <class T, int kVectors, Kind kKind, bool kClustered>
__global__ void __launch_bounds__(kMaxThreads, kVectors* rows::kWidth<T> <= 16 ? 2 : 1)
    in_turn_kernel(Forward<T> at, std::int64_t rows, int cols, int rows_per_cluster) {
  constexpr int kWidth = rows::kWidth<T>;
  constexpr bool kCentred = kKind == Kind::layernorm;
  constexpr bool kAhead = kVectors * kWidth <= 16;  // else registers hold one row
  constexpr int kParts = kMaxWarps * (kClustered ? static_cast<int>(rows::kMaxCluster) : 1);
  extern __shared__ rows::Packed kept[];  // γ, then β: [vector][thread]
  __shared__ Part parts[2][kParts];       // a row's while the row before is still being read
  const auto cluster = kClustered ? rows::Cluster::here() : rows::Cluster{0, 1};
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int warps = threads / 32;
  const std::int64_t begin =
      std::int64_t{blockIdx.x / static_cast<unsigned>(cluster.size)} * rows_per_cluster;
  const std::int64_t past = min(rows, begin + rows_per_cluster);
  const bool same_columns = std::int64_t{cols} * sizeof(T) % rows::kVectorBytes == 0;

  /// Where this thread's vectors of a row lie.
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
  if constexpr (kClustered) {  // before the first store to another block
    cluster.arrive();
    cluster.wait();
  }

  int turn = 0;
#pragma unroll 1
  for (std::int64_t row = begin; row < past; ++row, turn ^= 1) {
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
        cluster.store(&parts[turn][cluster.rank * warps + thread / 32], thread % 32, warp);
      }
      cluster.arrive();
      cluster.wait();
    } else {
      if (thread % 32 == 0) parts[turn][thread / 32] = warp;
      __syncthreads();
    }
    const float2 whole = merge(parts[turn], cluster.size * warps, cols);
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
    return clustered ? in_turn_kernel<T, kMost, kKind, true> : nullptr;
  }
  if (layout.vectors == kMost / 2) {
    return clustered ? in_turn_kernel<T, kMost / 2, kKind, true>
                     : in_turn_kernel<T, kMost / 2, kKind, false>;
  }
  return nullptr;
}

}  // namespace

template <class T>
ForwardKernel<T> find_in_turn(Kind kind, const rows::Layout& layout) {
  return kind == Kind::layernorm ? find<T, Kind::layernorm>(layout)
                                 : find<T, Kind::rmsnorm>(layout);
}
template ForwardKernel<float> find_in_turn<float>(Kind, const rows::Layout&);
template ForwardKernel<__half> find_in_turn<__half>(Kind, const rows::Layout&);
template ForwardKernel<__nv_bfloat16> find_in_turn<__nv_bfloat16>(Kind, const rows::Layout&);

}  // namespace roofcast::cuda::norm
