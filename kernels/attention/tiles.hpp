#pragma once
// The order in which blocks take tiles of queries: plain arithmetic that kernels, plans' tests and
// tests/kernels/attention_tiles_test.cpp use alike.
#include <cuda_runtime.h>

#include <cstdint>

namespace roofcast::cuda::attention {

/// The tiles of all heads in the order in which blocks take them. Heads go in parties, so that
/// their K and V stay in L2. Within a party tiles with the most keys go first; tiles at one place
/// in all its heads are adjacent.
struct Tiles {
  int seq_q, seq_kv;
  bool causal;
  int heads;          ///< query heads of all sequences
  int together;       ///< heads of a party
  int queries, keys;  ///< queries of a tile, keys of a step

  struct Tile {
    int head, query0;
    int steps;       ///< steps of keys with a visible key
    int full_steps;  ///< the first of these steps: no mask cuts them
  };

  __host__ __device__ constexpr int per_head() const { return (seq_q + queries - 1) / queries; }
  __host__ __device__ constexpr int count() const { return per_head() * heads; }
  /// Number of keys that a query sees; with a causal mask the last query sees all, and each query
  /// before it one less.
  __host__ __device__ constexpr int visible(int query) const {
    if (!causal) return seq_kv;
    const int past = query + 1 + seq_kv - seq_q;
    return past < seq_kv ? past : seq_kv;
  }
  __host__ __device__ constexpr Tile tile(int index) const {
    const int party = index / (per_head() * together);
    const int first = party * together;
    const int in_party = index - party * per_head() * together;
    const int width = heads - first < together ? heads - first : together;
    const int query0 = (per_head() - 1 - in_party / width) * queries;
    const int last = query0 + queries < seq_q ? query0 + queries : seq_q;
    const int steps = (visible(last - 1) + keys - 1) / keys;
    const int full = visible(query0) / keys;
    return {first + in_party % width, query0, steps, full < steps ? full : steps};
  }
};

}  // namespace roofcast::cuda::attention
