#pragma once
// attention.flash2, backward: dK and dV, and dQ where blocks add to it (FlashAttention-2, Dao,
// 2023, arXiv:2307.08691, algorithm 2).
//
// A block has a tile of keys of one head of K, whose K and V stay in shared memory. The queries
// that see these keys, of all query heads of the group, come step by step, with the next step's
// copies in flight:
//
//   Pᵀ = 2^(scale·K·Qᵀ - lse)   dV += Pᵀ·dO   dSᵀ = Pᵀ∘(V·dOᵀ - D)   dK += dSᵀ·Q   dQ += dS·K
//
// A warp has 16 or 32 keys as rows, so that Pᵀ and dSᵀ lie in its registers as the operand A of dV
// and dK. Only dS, for dQ, goes through shared memory to other warps. With 256 columns a warp's
// sums of dK and dV do not fit in registers: pairs of warps then divide the columns, and the
// queries of the scores, and exchange Pᵀ and dSᵀ through shared memory too.
//
// Queries beyond the last one are zeros, as are their dO, lse and D: they add nothing. Keys beyond
// the last one are hidden, since 2^(0 - lse) may be infinite.
#include "kernels/attention/flash2_products.cuh"
#include "kernels/common/exponential.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::mma {

/// A block's tile of keys: row kRow of the model's table.
template <class Element_, std::size_t kRow, roofcast::attention::DqSum kSum>
struct KeyTile {
  using Element = Element_;
  static constexpr auto kTile = roofcast::attention::kFlash2BackwardTiles[kRow];
  static constexpr bool kAtomic = kSum == roofcast::attention::kAtomic;
  static constexpr int kHead = kTile.head_dim, kKeys = kTile.keys, kQueries = kTile.queries;
  static constexpr int kThreads = kTile.threads(), kBlocks = kTile.blocks;
  static constexpr int kStages = kTile.stages, kAtOnce = kTile.at_once;
  static constexpr int kWarpsAcross = kTile.warps_across;
  static constexpr bool kExchanges = kWarpsAcross > 1;
  static constexpr int kRows = kKeys / kTile.warps_down;        // keys of a warp
  static constexpr int kColumns = kHead / kWarpsAcross;         // columns of its sums
  static constexpr int kScoreQueries = kAtOnce / kWarpsAcross;  // queries of its scores
  static constexpr int kDown = kRows / 16;

  using Kv = LineTile<kKeys, kHead * 2>;
  using Q = LineTile<kQueries, kHead * 2>;
  using Exchange = LineTile<kKeys, kQueries * 2>;  ///< a tile of Pᵀ or dSᵀ
  static constexpr int kStageBytes = 2 * Q::kTileBytes;
  static constexpr int kRowBytes = kQueries * 8;  ///< lse and D of a stage
  static constexpr int kExchangeAt = 2 * Kv::kTileBytes + kStages * kStageBytes;
  static constexpr int kRowsAt = kExchangeAt + (kExchanges ? 2
                                                : kAtomic  ? 1
                                                           : 0) *
                                                   Exchange::kTileBytes;
  static constexpr int kSharedBytes = kRowsAt + kStages * kRowBytes;

  // dQ of a step: 32 queries by 32 columns a warp.
  static constexpr int kDqDown = kQueries / 32, kDqColumns = 32;

  using Scores = float[kDown][kScoreQueries / 8][4];
  using Sums = float[kDown][kColumns / 8][4];
  static_assert(kSharedBytes == kTile.shared_bytes(kSum));
  static_assert(kRows % 16 == 0 && kScoreQueries % 16 == 0 && kQueries % kAtOnce == 0);
  static_assert(!kExchanges || kAtOnce == kQueries);
  static_assert(kThreads / 32 == kDqDown * (kHead / kDqColumns) && kThreads >= kQueries);
  static_assert(Q::kTileBytes % 1024 == 0 && Exchange::kTileBytes % 1024 == 0 && kStages == 2);
};

/// A thread's place: its warp's first key of the tile, and its share of the columns.
template <class T>
struct WarpPlace {
  int lane, row, across;

  __device__ explicit WarpPlace(int thread)
      : lane(thread % 32),
        row(thread / 32 / T::kWarpsAcross * T::kRows),
        across(thread / 32 % T::kWarpsAcross) {}
};

template <class Element>
struct KeysWork {
  KeyTiles tiles;
  int head_dim, group;
  float scale;   ///< log2(e)/√d
  float factor;  ///< 1/√d
  const Element *q, *k, *v, *d_o;
  const float2* rows;  ///< lse·log2(e) and D of each query
  float* dq;           ///< fp32 sums, zeros before the launch; null: not summed
  Element *dk, *dv;
};

/// Turns scores of keys (rows) and queries (columns) into 2^(scale·score - lse); 0 where the key is
/// hidden.
/// `rows`: shared address of lse and D of the warp's first query. `key` is the warp's first key,
/// `query` its first query.
template <int kDown, int kAcross>
__device__ void weigh(float (&score)[kDown][kAcross][4], float scale, unsigned rows, bool masked,
                      const KeyTiles& tiles, int key, int query, int lane) {
  if (masked) {
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const gemm::Place place = gemm::sum_place(lane, i);
        const int row = key + d * 16 + place.row;
        const int first = tiles.first_query(row) - query - place.column;
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          if (row >= tiles.seq_kv || j * 8 < first) score[d][j][i] = -__builtin_huge_valf();
        }
      }
    }
  }
#pragma unroll
  for (int j = 0; j < kAcross; ++j) {
    const float4 two = load_shared(rows + static_cast<unsigned>((j * 8 + lane % 4 * 2) * 8));
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        score[d][j][i] = exp2_of(fmaf(score[d][j][i], scale, i % 2 == 0 ? -two.x : -two.z));
      }
    }
  }
}

/// Computes dS = P∘(dP - D) in place of P.
template <int kDown, int kAcross>
__device__ void differentiate(float (&p)[kDown][kAcross][4], const float (&dp)[kDown][kAcross][4],
                              unsigned rows, int lane) {
#pragma unroll
  for (int j = 0; j < kAcross; ++j) {
    const float4 two = load_shared(rows + static_cast<unsigned>((j * 8 + lane % 4 * 2) * 8));
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int i = 0; i < 4; ++i) p[d][j][i] *= dp[d][j][i] - (i % 2 == 0 ? two.y : two.w);
    }
  }
}

/// Adds dS·K of a step to dQ in global memory. `dq` is the step's first row.
template <class T>
__device__ void add_dq(unsigned ds, unsigned k, float* dq, int rows_left, int head_dim,
                       float factor, int thread) {
  const int lane = thread % 32, warp = thread / 32;
  const int row = warp % T::kDqDown * 32, column = warp / T::kDqDown * T::kDqColumns;
  const Operand<typename T::Exchange, Side::left, Lines::across_k> left(ds, 0, row / 8, lane);
  const Operand<typename T::Kv, Side::right, Lines::across_k> right(k, 0, column / 8, lane);
  float sum[2][T::kDqColumns / 8][4] = {};
  multiply<typename T::Element, T::kKeys / 16>(
      sum, [&](unsigned(&to)[4], int d, int s) { left.read(to, d, s); },
      [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
#pragma unroll
  for (int d = 0; d < 2; ++d) {
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
      const gemm::Place place = gemm::sum_place(lane, i);
      const int r = row + d * 16 + place.row;
      float* const to = dq + r * head_dim + column + place.column;
#pragma unroll
      for (int j = 0; j < T::kDqColumns / 8; ++j) {
        if (r < rows_left && column + j * 8 < head_dim) {
          add_pair(to + j * 8, sum[d][j][i] * factor, sum[d][j][i + 1] * factor);
        }
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    keys_kernel(const KeysWork<typename T::Element> work) {
  using Element = typename T::Element;
  using Kv = typename T::Kv;
  using Q = typename T::Q;
  using Exchange = typename T::Exchange;
  extern __shared__ __align__(1024) unsigned char dynamic[];
  const auto k = static_cast<unsigned>(__cvta_generic_to_shared(dynamic));
  const unsigned v = k + Kv::kTileBytes, queries = v + Kv::kTileBytes;
  const unsigned ds = k + T::kExchangeAt, p = ds + Exchange::kTileBytes;
  const auto thread = static_cast<int>(threadIdx.x);
  const KeyTiles& tiles = work.tiles;
  const KeyTiles::Tile tile = tiles.tile(static_cast<int>(blockIdx.x));
  const std::int64_t keys_before = std::int64_t{tile.head} * tiles.seq_kv;

  // Steps of a query head, then those of the next.
  int query0 = tile.first * T::kQueries;
  std::int64_t matrix = std::int64_t{tile.head} * work.group * tiles.seq_q;  // its first row
  const std::int64_t past = matrix + std::int64_t{work.group} * tiles.seq_q;
  const auto advance = [&] {
    query0 += T::kQueries;
    if (query0 < tiles.seq_q) return;
    query0 = tile.first * T::kQueries;
    matrix += tiles.seq_q;
  };
  const auto start_step = [&](unsigned stage) {
    const unsigned to = queries + stage * T::kStageBytes;
    const int own = anew(thread);
    const RowCopy<Element, Q, T::kThreads> copy(work.head_dim, own);
    copy.start(to, work.q + matrix * work.head_dim, query0, tiles.seq_q);
    copy.start(to + Q::kTileBytes, work.d_o + matrix * work.head_dim, query0, tiles.seq_q);
    if (own < T::kQueries) {
      start_copy<8>(k + T::kRowsAt + stage * T::kRowBytes + static_cast<unsigned>(own * 8),
                    work.rows + matrix + query0 + own, query0 + own < tiles.seq_q ? 8 : 0);
    }
  };
  const RowCopy<Element, Kv, T::kThreads> copy(work.head_dim, thread);
  copy.start(k, work.k + keys_before * work.head_dim, tile.key0, tiles.seq_kv);
  copy.start(v, work.v + keys_before * work.head_dim, tile.key0, tiles.seq_kv);
  start_step(0);
  commit_copies();

  typename T::Sums dk = {}, dv = {};
#pragma unroll 1
  for (unsigned stage = 0; matrix < past; stage ^= 1) {
    const unsigned q = queries + stage * T::kStageBytes, d_o = q + Q::kTileBytes;
    const int this_query0 = query0;
    float* const dq = T::kAtomic ? work.dq + (matrix + query0) * work.head_dim : nullptr;
    wait_for_copies<0>();
    __syncthreads();  // the step has arrived, and the buffers of the previous step are free
    advance();
    if (matrix < past) start_step(stage ^ 1);
    commit_copies();
#pragma unroll 1
    for (int first = 0; first < T::kQueries; first += T::kAtOnce) {
      const auto [lane, row, across] = WarpPlace<T>(anew(thread));
      const int query = first + across * T::kScoreQueries;  // of the warp's scores, in the step
      const unsigned rows =
          k + T::kRowsAt + stage * T::kRowBytes + static_cast<unsigned>(query * 8);
      typename T::Scores score = {};
      {
        const Operand<Kv, Side::left, Lines::along_k> left(k, row, 0, lane);
        const Operand<Q, Side::right, Lines::along_k> right(q, query, 0, lane);
        multiply<Element, T::kHead / 16>(
            score, [&](unsigned(&to)[4], int d, int s) { left.read(to, d, s); },
            [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
      }
      weigh(score, work.scale, rows, this_query0 < tile.full * T::kQueries, tiles, tile.key0 + row,
            this_query0 + query, lane);
      if constexpr (T::kExchanges) {
        put_sums<Element, Exchange>(p, score, row, query / 8, lane);
      } else {
        const Operand<Q, Side::right, Lines::across_k> right(d_o, first, 0, lane);
        multiply<Element, T::kAtOnce / 16>(
            dv, [&](unsigned(&to)[4], int d, int s) { to_operand<Element>(to, score[d], s); },
            [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
      }
      // Keeps reads for dP after the products of P: a warp with 32 rows is short of registers.
      if constexpr (!T::kAtomic && T::kDown > 1) __syncwarp();
      typename T::Scores dp = {};
      {
        const Operand<Kv, Side::left, Lines::along_k> left(v, row, 0, lane);
        const Operand<Q, Side::right, Lines::along_k> right(d_o, query, 0, lane);
        multiply<Element, T::kHead / 16>(
            dp, [&](unsigned(&to)[4], int d, int s) { left.read(to, d, s); },
            [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
      }
      differentiate(score, dp, rows, lane);
      if constexpr (T::kExchanges || T::kAtomic) {
        put_sums<Element, Exchange>(ds, score, row, query / 8, lane);
      }
      if constexpr (!T::kExchanges) {
        const Operand<Q, Side::right, Lines::across_k> right(q, first, 0, lane);
        multiply<Element, T::kAtOnce / 16>(
            dk, [&](unsigned(&to)[4], int d, int s) { to_operand<Element>(to, score[d], s); },
            [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
      }
    }
    if constexpr (T::kExchanges || T::kAtomic) __syncthreads();  // P and dS are written
    if constexpr (T::kExchanges) {
      const auto [lane, row, across] = WarpPlace<T>(anew(thread));
      const auto add = [&](typename T::Sums& sum, unsigned from, unsigned matrix) {
        const Operand<Exchange, Side::left, Lines::along_k> left(from, row, 0, lane);
        const Operand<Q, Side::right, Lines::across_k> right(matrix, 0, across * T::kColumns / 8,
                                                             lane);
        multiply<Element, T::kQueries / 16>(
            sum, [&](unsigned(&to)[4], int d, int s) { left.read(to, d, s); },
            [&](unsigned(&to)[4], int pair, int s) { right.read(to, pair, s); });
      };
      add(dv, p, d_o);
      add(dk, ds, q);
    }
    if constexpr (T::kAtomic) {
      add_dq<T>(ds, k, dq, tiles.seq_q - this_query0, work.head_dim, work.factor, anew(thread));
    }
  }

  const auto [lane, row, across] = WarpPlace<T>(thread);
  const auto store = [&](const typename T::Sums& sum, Element* matrix, float factor) {
    store_sums(sum, matrix + keys_before * work.head_dim, tile.key0 + row, tiles.seq_kv,
               across * T::kColumns, work.head_dim, lane, [&](int, int) { return factor; });
  };
  store(dv, work.dv, 1);
  store(dk, work.dk, work.factor);
}

}  // namespace roofcast::cuda::attention::mma
