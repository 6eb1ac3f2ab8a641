#pragma once
// attention.flash2, forward: FlashAttention-2 (Dao, 2023, arXiv:2307.08691) on the tensor cores,
// fed by the warps themselves (mma.sync).
//
// A block has a tile of queries. A warp has 16 or 32 of its rows with all their keys, so four lanes
// hold the scores of a row and reduce its maximum and sum. Keys come in steps, first key first:
//
// 1. S = Q·Kᵀ. Where a warp has 32 rows, one 16-byte read from shared memory feeds 4 instructions.
//    The copy of V is in flight meanwhile, that of the next K during the rest of the step.
// 2. Softmax with the maximum so far: O and the sum are multiplied by 2^(old - new) where a maximum
//    of the warp's rows grew. Scores are scaled by log2(e)/√d on the way to 2^x: one multiply-add.
// 3. O += P·V. The sums of mma.sync have the layout of its operand A, so P stays in registers.
//
// Steps that no query of the tile sees are left out; masks cut only the last ones. Key 0 is visible
// to every query, so maxima are finite from the first step on. The tiles with the most keys go
// first (Tiles), so the short ones fill the last wave.
#include "kernels/attention/flash2_products.cuh"
#include "kernels/attention/tiles.hpp"
#include "kernels/common/exponential.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::mma {

/// A block's tile of queries: row kRow of one of the model's tables.
template <class Element_, const auto& kTable, std::size_t kRow>
struct QueryTile {
  using Element = Element_;
  static constexpr roofcast::attention::Flash2Tile kTile = kTable[kRow];
  static constexpr int kHead = kTile.head_dim, kQueries = kTile.queries, kKeys = kTile.keys;
  static constexpr int kThreads = kTile.threads(), kBlocks = kTile.blocks;
  static constexpr int kStages = kTile.stages;
  static constexpr int kRows = kQueries / kTile.warps;  // queries of a warp
  static constexpr int kDown = kRows / 16, kAcross = kKeys / 8, kHeadTiles = kHead / 8;
  static constexpr int kSharedBytes = kTile.shared_bytes();
  using Q = LineTile<kQueries, kHead * 2>;
  using Kv = LineTile<kKeys, kHead * 2>;
  using Scores = float[kDown][kAcross][4];
  using Sums = float[kDown][kHeadTiles][4];
  static_assert(sizeof(Element) == 2 && kRows % 16 == 0);
  static_assert(Q::kTileBytes % 1024 == 0 && Kv::kTileBytes % 1024 == 0);
};

template <class Element>
struct ForwardWork {
  Tiles tiles;
  int head_dim, group;
  float scale;  ///< log2(e)/√d
  const Element *q, *k, *v;
  Element* o;
  float* lse;
};

/// The score of a hidden key: 2^(scale·minus infinity) = 0.
inline constexpr float kHidden = -__builtin_huge_valf();

/// Hides the keys of a step that a row does not see, those from visible(row) on. `row` is the
/// warp's first query, `key0` the step's first key.
template <int kDown, int kAcross>
__device__ void hide(float (&score)[kDown][kAcross][4], const Tiles& tiles, int row, int key0,
                     int lane) {
#pragma unroll
  for (int d = 0; d < kDown; ++d) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const gemm::Place place = gemm::sum_place(lane, i);
      const int seen = tiles.visible(row + d * 16 + place.row) - key0 - place.column;
#pragma unroll
      for (int j = 0; j < kAcross; ++j) {
        if (j * 8 >= seen) score[d][j][i] = kHidden;
      }
    }
  }
}

/// For each row of a warp (half 0 and 1 of a 16-row tile) the largest score so far, and this lane's
/// part of Σ 2^(scale·(score - largest)).
template <int kDown>
struct RowSums {
  float most[kDown][2], sum[kDown][2];

  __device__ RowSums() {
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
      most[d][0] = most[d][1] = kHidden;
      sum[d][0] = sum[d][1] = 0;
    }
  }

  /// Turns scores into 2^(scale·(score - largest)); rescales `out` and the sums where a maximum
  /// grew.
  template <int kAcross, int kHeadTiles>
  __device__ void take(float (&score)[kDown][kAcross][4], float (&out)[kDown][kHeadTiles][4],
                       float scale) {
    float before[kDown][2];
    bool grew = false;
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float largest = most[d][half];
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
          largest = fmaxf(largest, fmaxf(score[d][j][2 * half], score[d][j][2 * half + 1]));
        }
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, 2));
        before[d][half] = most[d][half];
        grew = grew || largest > most[d][half];
        most[d][half] = largest;
      }
    }
    if (__any_sync(0xffffffff, grew)) {
#pragma unroll
      for (int d = 0; d < kDown; ++d) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float factor = exp2_of((before[d][half] - most[d][half]) * scale);
          sum[d][half] *= factor;
#pragma unroll
          for (int j = 0; j < kHeadTiles; ++j) {
            out[d][j][2 * half] *= factor, out[d][j][2 * half + 1] *= factor;
          }
        }
      }
    }
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float shift = most[d][half] * scale;
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            score[d][j][i] = exp2_of(fmaf(score[d][j][i], scale, -shift));
            sum[d][half] += score[d][j][i];
          }
        }
      }
    }
  }

  /// Adds the parts of the four lanes of a row.
  __device__ void finish() {
#pragma unroll
    for (int d = 0; d < kDown; ++d) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        sum[d][half] += __shfl_xor_sync(0xffffffff, sum[d][half], 1);
        sum[d][half] += __shfl_xor_sync(0xffffffff, sum[d][half], 2);
      }
    }
  }
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocks)
    forward_kernel(const ForwardWork<typename T::Element> work) {
  using Element = typename T::Element;
  using Q = typename T::Q;
  using Kv = typename T::Kv;
  extern __shared__ __align__(1024) unsigned char dynamic[];
  const auto q = static_cast<unsigned>(__cvta_generic_to_shared(dynamic));
  const unsigned k = q + Q::kTileBytes, v = k + Kv::kTileBytes;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, row = thread / 32 * T::kRows;
  const Tiles& tiles = work.tiles;
  const Tiles::Tile tile = tiles.tile(static_cast<int>(blockIdx.x));
  const std::int64_t before = std::int64_t{tile.head / work.group} * tiles.seq_kv * work.head_dim;
  const auto copy = [&](unsigned to, const Element* matrix, int key0) {
    RowCopy<Element, Kv, T::kThreads>(work.head_dim, anew(thread))
        .start(to, matrix + before, key0, tiles.seq_kv);
  };
  RowCopy<Element, Q, T::kThreads>(work.head_dim, thread)
      .start(q, work.q + std::int64_t{tile.head} * tiles.seq_q * work.head_dim, tile.query0,
             tiles.seq_q);
  copy(k, work.k, 0);
  commit_copies();

  const Operand<Q, Side::left, Lines::along_k> rows_q(q, row, 0, lane);
  const Operand<Kv, Side::right, Lines::along_k> rows_k(k, 0, 0, lane);
  const int past = tile.steps * T::kKeys, cut = tile.full_steps * T::kKeys;
  typename T::Sums out = {};
  RowSums<T::kDown> rows;
#pragma unroll 1
  for (int key0 = 0; key0 < past; key0 += T::kKeys) {
    wait_for_copies<0>();
    __syncthreads();  // K has arrived, and the previous V is no longer read
    copy(v, work.v, key0);
    commit_copies();
    typename T::Scores score = {};
    multiply<Element, T::kHead / 16>(
        score, [&](unsigned(&to)[4], int d, int s) { rows_q.read(to, d, s); },
        [&](unsigned(&to)[4], int pair, int s) { rows_k.read(to, pair, s); });
    if (key0 >= cut) hide(score, tiles, tile.query0 + row, key0, anew(lane));
    wait_for_copies<0>();
    __syncthreads();  // V has arrived, and K is no longer read
    if (key0 + T::kKeys < past) copy(k, work.k, key0 + T::kKeys);
    commit_copies();
    rows.take(score, out, work.scale);
    const Operand<Kv, Side::right, Lines::across_k> columns_v(v, 0, 0, anew(lane));
    multiply<Element, T::kKeys / 16>(
        out, [&](unsigned(&to)[4], int d, int s) { to_operand<Element>(to, score[d], s); },
        [&](unsigned(&to)[4], int pair, int s) { columns_v.read(to, pair, s); });
  }

  // The tile is computed again, so that it takes no registers during the loop.
  const Tiles::Tile same = tiles.tile(anew(static_cast<int>(blockIdx.x)));
  const std::int64_t query_rows = std::int64_t{same.head} * tiles.seq_q;
  rows.finish();
  constexpr float kLn2 = 0.693147180559945F;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = same.query0 + row + d * 16 + half * 8 + lane / 4;
      if (lane % 4 == 0 && query < tiles.seq_q) {
        work.lse[query_rows + query] =
            rows.most[d][half] * work.scale * kLn2 + logf(rows.sum[d][half]);
      }
    }
  }
  store_sums(out, work.o + query_rows * work.head_dim, same.query0 + row, tiles.seq_q, 0,
             work.head_dim, lane, [&](int d, int half) { return 1 / rows.sum[d][half]; });
}

}  // namespace roofcast::cuda::attention::mma
