#pragma once
// attention.flash3 backward, the pass over tiles of keys: dK and dV, and dQ by additions in memory.
//
// A block has a tile of K and V in shared memory and iterates over the queries that see it: Q with
// the log-sum-exp, and dO with D = rowsum(dO∘O), each through a ring of stages that one thread
// fills by TMA. For each tile of queries, with keys as rows so that dV and dK take Pᵀ and dSᵀ from
// registers:
//   Sᵀ = K·Qᵀ, Pᵀ = exp2(c·Sᵀ - lse·log2 e), dPᵀ = V·dOᵀ, dSᵀ = Pᵀ∘(dPᵀ - D),
//   dV += Pᵀ·dO, dK += dSᵀ·Q, dQ += dS·K,
// c = log2 e/√d; the scale of dQ and dK, 1/√d, comes last (Dao 2023, FlashAttention-2; Shah et al.
// 2024, FlashAttention-3).
//
// 1. A warpgroup owns 64 keys: the sums of its dK and dV, and the rows of Sᵀ and dPᵀ. dS goes to
//    shared memory as well, since dQ sums over the keys of both; each warpgroup then takes half of
//    dQ's tile. dS has two buffers, so one barrier a step suffices: a warpgroup that writes a
//    buffer again has passed a barrier that the other reached after its dQ from that buffer.
// 2. The tensor cores stay busy while a warpgroup computes: dPᵀ runs during the exponentials, dV
//    during dS, dK during the barrier, and the next Sᵀ is issued before dQ is added to memory.
// 3. dQ is added in the order of registers, 512 bytes a warp and instruction (dq_place); a last
//    kernel reorders it.
// 4. A head dim of 256: 64 keys fill the registers of both warpgroups. Each has half of the queries
//    in Sᵀ and dPᵀ, and half of the head dim in dK, dV and dQ. P and dS reach the other through
//    shared memory, for dK and for dQ in the two orders that wgmma reads along k.
#include <cmath>
#include <cstdint>

#include "kernels/attention/flash3_backward_tile.cuh"
#include "kernels/common/exponential.cuh"

namespace roofcast::cuda::attention::flash3_backward {

template <class Element_, Flash3BackwardTile kTile, bool kAddsDq_>
struct KeysTile {
  using Element = Element_;
  static constexpr int kHeadDim = static_cast<int>(kTile.head_dim);
  static constexpr int kQueries = static_cast<int>(kTile.queries);
  static constexpr int kKeys = static_cast<int>(kTile.keys);
  static constexpr int kStages = kTile.stages;
  static constexpr int kThreads = static_cast<int>(kTile.threads());
  static constexpr int kSharedBytes = static_cast<int>(kTile.shared_bytes());
  static constexpr bool kAddsDq = kAddsDq_, kSplitsHead = kTile.splits_head();
  // Columns that a warpgroup has of Sᵀ, of dK and dV, of dQ.
  static constexpr int kOwnQueries = kSplitsHead ? kQueries / 2 : kQueries;
  static constexpr int kOwnHead = kSplitsHead ? kHeadDim / 2 : kHeadDim;
  static constexpr int kDqColumns = kQueries == 128 ? kHeadDim : kHeadDim / 2;
  static constexpr int kKeyPanel = kKeys * kPanelBytes, kQueryPanel = kQueries * kPanelBytes;
  static constexpr int kKeyBytes = kKeys * kHeadDim * 2, kQueryBytes = kQueries * kHeadDim * 2;
  static constexpr int kScoreBytes = kQueries * kKeys * 2, kRowBytes = kQueries * 4;
  static constexpr int kScores = kSplitsHead ? 3 : 2;
  static constexpr int kStageBytes = kQueryBytes + kRowBytes;  ///< bytes that a barrier counts
  static_assert(kKeys == (kSplitsHead ? 64 : 128) && (kQueries == 64 || kQueries == 128));
  static_assert(kSharedBytes == kAlignment + 2 * kKeyBytes + 2 * kStages * kStageBytes +
                                    kScores * kScoreBytes + (4 * kStages + 2) * 8);
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(kPaddedQueries % kQueries == 0);
};

template <class T>
struct KeysShared {
  unsigned base;

  __device__ unsigned k() const { return base; }
  __device__ unsigned v() const { return base + T::kKeyBytes; }
  __device__ unsigned q(int stage) const { return at(2 * T::kKeyBytes + stage * T::kQueryBytes); }
  __device__ unsigned grad(int stage) const { return q(T::kStages + stage); }  ///< dO
  /// dS: panels of 64 keys, lines of queries; two buffers. Split heads: Pᵀ, dSᵀ, dS.
  __device__ unsigned scores(int i) const { return q(2 * T::kStages) + at_score(i); }
  __device__ unsigned lse(int stage) const {
    return scores(T::kScores) + static_cast<unsigned>(stage * T::kRowBytes);
  }
  __device__ unsigned d(int stage) const { return lse(T::kStages + stage); }
  __device__ Mbarrier q_full(int stage) const { return barrier(stage); }
  __device__ Mbarrier q_empty(int stage) const { return barrier(T::kStages + stage); }
  __device__ Mbarrier grad_full(int stage) const { return barrier(2 * T::kStages + stage); }
  __device__ Mbarrier grad_empty(int stage) const { return barrier(3 * T::kStages + stage); }
  __device__ Mbarrier k_full() const { return barrier(4 * T::kStages); }
  __device__ Mbarrier v_full() const { return barrier(4 * T::kStages + 1); }

 private:
  __device__ unsigned at(int bytes) const { return base + static_cast<unsigned>(bytes); }
  static __device__ unsigned at_score(int i) { return static_cast<unsigned>(i * T::kScoreBytes); }
  __device__ Mbarrier barrier(int i) const {
    return {lse(2 * T::kStages) + static_cast<unsigned>(i * 8)};
  }
};

/// The steps of a block: tiles of queries from `first` on, of each query head that shares the keys.
struct QuerySteps {
  int key, kv_head;  ///< the block's first key, and head of K and V
  int first, past;   ///< tiles of queries
  int tile, head;    ///< tile of queries and query head of the current step
  int left;          ///< steps, this one included

  template <class T>
  static __device__ QuerySteps of(const Work& work) {
    const BlockTile at = block_tile(static_cast<int>(blockIdx.x), tiles_of(work.seq_kv, T::kKeys),
                                    work.heads, work.together);
    const int key = at.tile * T::kKeys;
    const int first = work.causal ? first_query_tile(key, work.shift(), T::kQueries) : 0;
    const int past = tiles_of(work.seq_q, T::kQueries);
    return {key, at.head, first, past, first, at.head * work.group, (past - first) * work.group};
  }
  __device__ void advance() {
    --left;
    if (++tile == past) tile = first, ++head;
  }
};

/// Run by one thread: copies K and V, and for every step Q, lse, dO and D.
template <class T>
__device__ void copy_queries(const KeysShared<T>& shared, const Work& work, QuerySteps steps,
                             const CUtensorMap& q, const CUtensorMap& k, const CUtensorMap& v,
                             const CUtensorMap& grad) {
  shared.k_full().expect(T::kKeyBytes);
  copy_rows<T::kKeys, T::kHeadDim>(shared.k(), k, steps.key, steps.kv_head, shared.k_full());
  Ring<T::kStages> ring;
  for (bool begins = true; steps.left > 0; steps.advance(), ring.advance()) {
    const int row = steps.tile * T::kQueries;
    const std::int64_t place = std::int64_t{steps.head} * work.rows + row;
    const Mbarrier q_full = shared.q_full(ring.stage), grad_full = shared.grad_full(ring.stage);
    shared.q_empty(ring.stage).wait(ring.phase ^ 1);
    q_full.expect(T::kStageBytes);
    copy_rows<T::kQueries, T::kHeadDim>(shared.q(ring.stage), q, row, steps.head, q_full);
    rows::copy_bulk(shared.lse(ring.stage), work.lse + place, T::kRowBytes, q_full);
    if (begins) {
      shared.v_full().expect(T::kKeyBytes);
      copy_rows<T::kKeys, T::kHeadDim>(shared.v(), v, steps.key, steps.kv_head, shared.v_full());
      begins = false;
    }
    shared.grad_empty(ring.stage).wait(ring.phase ^ 1);
    grad_full.expect(T::kStageBytes);
    copy_rows<T::kQueries, T::kHeadDim>(shared.grad(ring.stage), grad, row, steps.head, grad_full);
    rows::copy_bulk(shared.d(ring.stage), work.d + place, T::kRowBytes, grad_full);
  }
}

/// Sets Sᵀ of keys beyond the end, or later than the query, to -∞, so that P is 0. `key` is the
/// first of the lane's two rows, `query` the place of column 0.
template <int kColumns>
__device__ void mask_keys(float (&s)[kColumns / 2], const Work& work, int key, int query,
                          int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = key + 8 * half;
    int first = work.causal ? row - work.shift() - query : 0;  // the first query that sees it
    if (row >= work.seq_kv) first = kColumns;
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (8 * j + lane % 4 * 2 + i < first) s[4 * j + 2 * half + i] = -INFINITY;
      }
    }
  }
}

/// Adds four sums atomically to four neighbouring floats; blocks add in any order.
__device__ inline void add_to_memory(float* to, const float* from) {
  asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(from[0]),
               "f"(from[1]), "f"(from[2]), "f"(from[3])
               : "memory");
}

/// Runs all steps of a warpgroup; dk and dv are complete afterwards.
template <class T>
__device__ void sum_queries(const KeysShared<T>& shared, const Work& work, QuerySteps steps,
                            int warpgroup, float (&dk)[T::kOwnHead / 2],
                            float (&dv)[T::kOwnHead / 2]) {
  using Element = typename T::Element;
  constexpr int kSteps = T::kOwnQueries / 16;
  const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  const int warp = thread / 32, lane = thread % 32;
  const int own_key = T::kSplitsHead ? 0 : 64 * warpgroup;
  const int own_query = T::kSplitsHead ? T::kOwnQueries * warpgroup : 0;
  const int own_panel = T::kSplitsHead ? warpgroup * (T::kOwnHead / kPanelColumns) : 0;

  const auto lines = [](int count) { return static_cast<unsigned>(count * kPanelBytes); };
  const unsigned k_rows = along_k(shared.k() + lines(own_key));
  const unsigned v_rows = along_k(shared.v() + lines(own_key));
  const unsigned q_rows = along_k(shared.q(0) + lines(own_query));
  const unsigned q_down = across_k(shared.q(0) + lines(own_panel * T::kQueries), T::kQueryPanel);
  // dQ: 64 of 128 queries by all columns, or 64 queries by half of the columns.
  constexpr bool kHalvesRows = T::kQueries == 128;
  constexpr int kDqPanels = T::kDqColumns / kPanelColumns;
  const unsigned ds_rows =
      along_k(shared.scores(T::kSplitsHead ? 2 : 0) + (kHalvesRows ? lines(64 * warpgroup) : 0));
  const unsigned k_down = across_k(
      shared.k() + (kHalvesRows ? 0 : lines(warpgroup * kDqPanels * T::kKeys)), T::kKeyPanel);
  // The stages of dO follow those of Q.
  constexpr auto kStageStep = static_cast<unsigned>(T::kQueryBytes / gemm::kChunkBytes);
  constexpr unsigned kGrad = T::kStages * kStageStep;
  const auto store_by_key = [&](unsigned panel, int i, const unsigned(&part)[4]) {
    store_part(panel + static_cast<unsigned>(place_by_key(warp, lane, own_query + 16 * i)), part);
  };
  const auto query_place = static_cast<unsigned>(place_by_query(warp, lane, own_query));
  const auto store_by_query = [&](unsigned panel, int i, const unsigned(&part)[4]) {
    store_part_transposed(panel + query_place + lines(16 * i), part);
  };

  float s[T::kOwnQueries / 2], dp[T::kOwnQueries / 2];
  Ring<T::kStages> ring;
  int buffer = 0;
  shared.k_full().wait(0);
  shared.q_full(0).wait(0);
  gemm::begin_products();
  multiply_head<Element, T::kOwnQueries, T::kHeadDim, T::kKeys, T::kQueries>(s, k_rows, q_rows);
  gemm::commit_products();
  shared.v_full().wait(0);

#pragma unroll 1
  for (; steps.left > 0;) {
    const unsigned stage = static_cast<unsigned>(ring.stage) * kStageStep;
    shared.grad_full(ring.stage).wait(ring.phase);
    gemm::wait_for_products<0>();  // Sᵀ
    gemm::settle(s);
    gemm::begin_products();
    multiply_head<Element, T::kOwnQueries, T::kHeadDim, T::kKeys, T::kQueries>(
        dp, v_rows, q_rows + kGrad + stage);
    gemm::commit_products();

    const int query = steps.tile * T::kQueries + own_query, key = steps.key + own_key;
    if (key + 64 > work.seq_kv || (work.causal && key + 63 > query + work.shift())) {
      mask_keys<T::kOwnQueries>(s, work, key + warp * 16 + lane / 4, query, lane);
    }
    const auto row_pair = static_cast<unsigned>((own_query + lane % 4 * 2) * 4);
    unsigned p_held[kSteps][4];
#pragma unroll
    for (int j = 0; j < T::kOwnQueries / 8; ++j) {
      const float2 lse = load_pair(shared.lse(ring.stage) + row_pair + j * 32);
      const float c = work.exponent_scale();
      s[4 * j] = exp2_of(s[4 * j] * c - lse.x);
      s[4 * j + 1] = exp2_of(s[4 * j + 1] * c - lse.y);
      s[4 * j + 2] = exp2_of(s[4 * j + 2] * c - lse.x);
      s[4 * j + 3] = exp2_of(s[4 * j + 3] * c - lse.y);
      if (j % 2 == 1) pack<Element>(p_held[j / 2], s, j / 2);
    }
    if constexpr (T::kSplitsHead) {
      meet_both();  // both are done with Pᵀ and dS of the previous step
#pragma unroll
      for (int i = 0; i < kSteps; ++i) store_by_key(shared.scores(0), i, p_held[i]);
      gemm::wait_for_products<0>();
    } else {
      gemm::begin_products();
      multiply_held<Element, T::kOwnHead>(dv, p_held, q_down + kGrad + stage);
      gemm::commit_products();
      gemm::wait_for_products<1>();
    }

    gemm::settle(dp);
    unsigned ds_held[kSteps][4];
#pragma unroll
    for (int j = 0; j < T::kOwnQueries / 8; ++j) {
      const float2 d = load_pair(shared.d(ring.stage) + row_pair + j * 32);
      s[4 * j] *= dp[4 * j] - d.x;
      s[4 * j + 1] *= dp[4 * j + 1] - d.y;
      s[4 * j + 2] *= dp[4 * j + 2] - d.x;
      s[4 * j + 3] *= dp[4 * j + 3] - d.y;
      if (j % 2 == 1) pack<Element>(ds_held[j / 2], s, j / 2);
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      if constexpr (T::kSplitsHead) {
        store_by_key(shared.scores(1), i, ds_held[i]);
        if constexpr (T::kAddsDq) store_by_query(shared.scores(2), i, ds_held[i]);
      } else if constexpr (T::kAddsDq) {
        // Each warpgroup fills a panel of 64 keys.
        store_by_query(shared.scores(buffer) + lines(warpgroup * T::kQueries), i, ds_held[i]);
      }
    }
    // Orders these stores before the products that read them, and the reads of lse and D above
    // before the copies that replace them.
    rows::fence_async_proxy();
    if constexpr (T::kSplitsHead) {
      meet_both();
      gemm::begin_products();
      multiply_down<Element, T::kOwnHead, T::kQueries / 16, T::kKeys>(dv, along_k(shared.scores(0)),
                                                                      q_down + kGrad + stage, true);
      multiply_down<Element, T::kOwnHead, T::kQueries / 16, T::kKeys>(dk, along_k(shared.scores(1)),
                                                                      q_down + stage, true);
    } else {
      gemm::begin_products();
      multiply_held<Element, T::kOwnHead>(dk, ds_held, q_down + stage);
    }
    gemm::commit_products();

    float dq[T::kDqColumns / 2];
    if constexpr (T::kAddsDq) {
      if constexpr (!T::kSplitsHead) meet_both();
      const auto of_buffer = static_cast<unsigned>(buffer * (T::kScoreBytes / gemm::kChunkBytes));
      gemm::begin_products();
      multiply_down<Element, T::kDqColumns, T::kKeys / 16, T::kQueries>(dq, ds_rows + of_buffer,
                                                                        k_down, false);
      gemm::commit_products();
      gemm::wait_for_products<1>();  // dV and dK
      if constexpr (!T::kSplitsHead) buffer ^= 1;
      gemm::arrive(shared.q_empty(ring.stage));
      gemm::arrive(shared.grad_empty(ring.stage));
    } else {
      gemm::wait_for_products<1>();  // dV: frees the registers of P
    }
    const int done = ring.stage;
    const std::int64_t place =
        std::int64_t{steps.head} * work.rows + std::int64_t{steps.tile} * T::kQueries;
    steps.advance();
    // After the last step Sᵀ of the same stage is computed again and not read, so that the
    // products are the same in every step.
    if (steps.left > 0) {
      ring.advance();
      shared.q_full(ring.stage).wait(ring.phase);
    }
    gemm::begin_products();
    multiply_head<Element, T::kOwnQueries, T::kHeadDim, T::kKeys, T::kQueries>(
        s, k_rows, q_rows + static_cast<unsigned>(ring.stage) * kStageStep);
    gemm::commit_products();
    gemm::wait_for_products<1>();  // all but Sᵀ
    if constexpr (!T::kAddsDq) {
      gemm::arrive(shared.q_empty(done));
      gemm::arrive(shared.grad_empty(done));
    } else {
      gemm::settle(dq);
      float* const to =
          work.dq + place * T::kHeadDim + warpgroup * (T::kQueries * T::kHeadDim / 2) + thread * 4;
#pragma unroll
      for (int j = 0; j < T::kDqColumns / 8; ++j) add_to_memory(to + j * 512, dq + 4 * j);
    }
  }
  gemm::wait_for_products<0>();
  gemm::settle(s);
  gemm::settle(dk);
  gemm::settle(dv);
}

/// Grid: tiles of keys × heads of K and V.
template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    keys_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap grad,
                const __grid_constant__ CUtensorMap dk_map,
                const __grid_constant__ CUtensorMap dv_map, const __grid_constant__ Work work) {
  extern __shared__ unsigned char dynamic[];
  const KeysShared<T> shared{(rows::shared_address(dynamic) + kAlignment - 1) / kAlignment *
                             kAlignment};
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      gemm::init(shared.q_full(s), 1);
      gemm::init(shared.grad_full(s), 1);
      gemm::init(shared.q_empty(s), kSumming * kWarpgroup);
      gemm::init(shared.grad_empty(s), kSumming * kWarpgroup);
    }
    gemm::init(shared.k_full(), 1);
    gemm::init(shared.v_full(), 1);
    Mbarrier::publish_init();
  }
  if (threadIdx.x == 32) {
    for (const CUtensorMap* map : {&q, &k, &v, &grad, &dk_map, &dv_map}) gemm::prefetch(*map);
  }
  __syncthreads();

  const QuerySteps steps = QuerySteps::of<T>(work);
  const int warpgroup = warpgroup_index() - 1;
  if (warpgroup < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCopyRegisters));
    if (threadIdx.x == 0) copy_queries<T>(shared, work, steps, q, k, v, grad);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kSumRegisters));
    float dk[T::kOwnHead / 2] = {}, dv[T::kOwnHead / 2] = {};
    sum_queries<T>(shared, work, steps, warpgroup, dk, dv);
    meet_both();  // the products of both have read K and V
    const int own_key = T::kSplitsHead ? 0 : 64 * warpgroup;
    const int panel = T::kSplitsHead ? warpgroup * (T::kOwnHead / kPanelColumns) : 0;
    const auto to = static_cast<unsigned>(panel * T::kKeyPanel + own_key * kPanelBytes);
    const int column = panel * kPanelColumns, row = steps.key + own_key;
    store_rows<typename T::Element, T::kOwnHead, T::kKeyPanel>(
        dv_map, shared.v() + to, dv, 1, column, row, steps.kv_head, warpgroup);
    store_rows<typename T::Element, T::kOwnHead, T::kKeyPanel>(
        dk_map, shared.k() + to, dk, work.scale, column, row, steps.kv_head, warpgroup);
    if (threadIdx.x % kWarpgroup == 0) wait_for_stores();
  }
}

}  // namespace roofcast::cuda::attention::flash3_backward
