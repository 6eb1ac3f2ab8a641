#pragma once
// attention.flash2, backward: dQ without atomics. A block keeps Q and dO of a tile of queries in
// shared memory, and recomputes S and dP of all keys that they see:
//
//   P = 2^(scale·Q·Kᵀ - lse)   dS = P∘(dO·Vᵀ - D)   dQ += dS·K
//
// Registers hold the sums and add in one order, so results repeat. The backward pass has seven
// products instead of five, and no fp32 sums of dQ in memory.
#include "kernels/attention/flash2_forward.cuh"
#include "kernels/common/exponential.cuh"

namespace roofcast::cuda::attention::mma {

template <class Element>
struct QueriesWork {
  Tiles tiles;
  int head_dim, group;
  float scale;   ///< log2(e)/√d
  float factor;  ///< 1/√d
  const Element *q, *k, *v, *d_o;
  const float2* rows;  ///< lse·log2(e) and D of each query
  Element* dq;
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    queries_kernel(const QueriesWork<typename T::Element> work) {
  using Element = typename T::Element;
  using Q = typename T::Q;
  using Kv = typename T::Kv;
  static_assert(T::kTile.held == 2 && T::kStages == 2);
  extern __shared__ __align__(1024) unsigned char dynamic[];
  const auto q = static_cast<unsigned>(__cvta_generic_to_shared(dynamic));
  const unsigned d_o = q + Q::kTileBytes, stages = d_o + Q::kTileBytes;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, row = thread / 32 * T::kRows;
  const Tiles& tiles = work.tiles;
  const Tiles::Tile tile = tiles.tile(static_cast<int>(blockIdx.x));
  const std::int64_t query_rows = std::int64_t{tile.head} * tiles.seq_q;
  const std::int64_t before = std::int64_t{tile.head / work.group} * tiles.seq_kv * work.head_dim;
  const auto stage_of = [&](int step) {
    return stages + static_cast<unsigned>(step % T::kStages * 2 * Kv::kTileBytes);
  };
  const auto start_step = [&](int step) {
    const RowCopy<Element, Kv, T::kThreads> copy(work.head_dim, anew(thread));
    const unsigned to = stage_of(step);
    copy.start(to, work.k + before, step * T::kKeys, tiles.seq_kv);
    copy.start(to + Kv::kTileBytes, work.v + before, step * T::kKeys, tiles.seq_kv);
  };
  const RowCopy<Element, Q, T::kThreads> copy(work.head_dim, thread);
  copy.start(q, work.q + query_rows * work.head_dim, tile.query0, tiles.seq_q);
  copy.start(d_o, work.d_o + query_rows * work.head_dim, tile.query0, tiles.seq_q);
  start_step(0);
  commit_copies();

  float2 of_row[T::kDown][2];
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = tile.query0 + row + d * 16 + half * 8 + lane / 4;
      of_row[d][half] = query < tiles.seq_q ? work.rows[query_rows + query] : make_float2(0, 0);
    }
  }
  typename T::Sums dq = {};
#pragma unroll 1
  for (int step = 0; step < tile.steps; ++step) {
    const unsigned k = stage_of(step), v = k + Kv::kTileBytes;
    wait_for_copies<0>();
    __syncthreads();  // K and V have arrived, and the previous ones are no longer read
    if (step + 1 < tile.steps) start_step(step + 1);
    commit_copies();
    const auto scores = [&](typename T::Scores& sum, unsigned from_rows, unsigned from_keys) {
      const Operand<Q, Side::left, Lines::along_k> left(from_rows, row, 0, lane);
      const Operand<Kv, Side::right, Lines::along_k> right(from_keys, 0, 0, lane);
      multiply<Element, T::kHead / 16>(
          sum, [&](unsigned(&to)[4], int d, int s) { left.read(to, d, s); },
          [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
    };
    typename T::Scores p = {};
    scores(p, q, k);
    if (step >= tile.full_steps) {
      hide(p, tiles, tile.query0 + row, step * T::kKeys, anew(lane));
    }
    typename T::Scores dp = {};
    scores(dp, d_o, v);
#pragma unroll
    for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
      for (int j = 0; j < T::kAcross; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float2 own = of_row[d][i / 2];
          p[d][j][i] = exp2_of(fmaf(p[d][j][i], work.scale, -own.x)) * (dp[d][j][i] - own.y);
        }
      }
    }
    const Operand<Kv, Side::right, Lines::across_k> columns_k(k, 0, 0, lane);
    multiply<Element, T::kKeys / 16>(
        dq, [&](unsigned(&to)[4], int d, int s) { to_operand<Element>(to, p[d], s); },
        [&](unsigned(&to)[4], int pair, int s) { columns_k.read(to, pair, s); });
  }
  store_sums(dq, work.dq + query_rows * work.head_dim, tile.query0 + row, tiles.seq_q, 0,
             work.head_dim, lane, [&](int, int) { return work.factor; });
}

}  // namespace roofcast::cuda::attention::mma
