#pragma once
// attention.flash3 backward, dQ in a pass of its own over tiles of queries (two_pass): S and dP are
// computed once more, and no block adds to another's sums, so the result is the same each time.
//
// A block has a tile of Q and dO in shared memory, 64 queries a warpgroup, and iterates over the
// keys that they see:
//   S = Q·Kᵀ, P = exp2(c·S - lse·log2 e), dP = dO·Vᵀ, dS = P∘(dP - D), dQ += dS·K.
// dS stays in registers, so the warpgroups do not synchronize with each other.
#include <cmath>
#include <cstdint>

#include "kernels/attention/flash3_backward_tile.cuh"
#include "kernels/common/exponential.cuh"

namespace roofcast::cuda::attention::flash3_backward {

template <class Element_, Flash3DqTile kTile>
struct QueriesTile {
  using Element = Element_;
  static constexpr int kHeadDim = static_cast<int>(kTile.head_dim);
  static constexpr int kQueries = static_cast<int>(kTile.queries);
  static constexpr int kKeys = static_cast<int>(kTile.keys);
  static constexpr int kStages = kTile.stages;
  static constexpr int kThreads = static_cast<int>(kTile.threads());
  static constexpr int kSharedBytes = static_cast<int>(kTile.shared_bytes());
  static constexpr int kQueryPanel = kQueries * kPanelBytes, kKeyPanel = kKeys * kPanelBytes;
  static constexpr int kQueryBytes = kQueries * kHeadDim * 2, kKeyBytes = kKeys * kHeadDim * 2;
  static constexpr int kKeyBox = kKeys < kBoxRows ? kKeys : kBoxRows;  ///< rows of a box
  static_assert(kQueries == 64 * kSumming && kPaddedQueries % kQueries == 0);
  static_assert(kSharedBytes ==
                kAlignment + 2 * kQueryBytes + 2 * kStages * kKeyBytes + (4 * kStages + 1) * 8);
  static_assert(kSharedBytes <= 227 * 1024);
};

template <class T>
struct QueriesShared {
  unsigned base;

  __device__ unsigned q() const { return base; }
  __device__ unsigned grad() const { return base + T::kQueryBytes; }  ///< dO
  __device__ unsigned k(int stage) const {
    return base + static_cast<unsigned>(2 * T::kQueryBytes + stage * T::kKeyBytes);
  }
  __device__ unsigned v(int stage) const { return k(T::kStages + stage); }
  __device__ Mbarrier k_full(int stage) const { return barrier(stage); }
  __device__ Mbarrier k_empty(int stage) const { return barrier(T::kStages + stage); }
  __device__ Mbarrier v_full(int stage) const { return barrier(2 * T::kStages + stage); }
  __device__ Mbarrier v_empty(int stage) const { return barrier(3 * T::kStages + stage); }
  __device__ Mbarrier q_full() const { return barrier(4 * T::kStages); }  ///< and dO

 private:
  __device__ Mbarrier barrier(int i) const {
    return {k(2 * T::kStages) + static_cast<unsigned>(i * 8)};
  }
};

/// The steps of a block: a tile of queries of a head, and the tiles of keys that any of them sees.
struct KeySteps {
  int query, head, kv_head;
  int count;

  template <class T>
  static __device__ KeySteps of(const Work& work) {
    const int tiles = tiles_of(work.seq_q, T::kQueries);
    const BlockTile at = block_tile(static_cast<int>(blockIdx.x), tiles, work.heads, work.together);
    const int query = (tiles - 1 - at.tile) * T::kQueries;  // the last see the most keys
    const int last = min(query + T::kQueries, work.seq_q) - 1;
    return {query, at.head, at.head / work.group,
            work.causal ? seen_key_tiles(last, work.shift(), work.seq_kv, T::kKeys)
                        : tiles_of(work.seq_kv, T::kKeys)};
  }
};

/// Run by one thread: copies Q and dO, and for every step K and V.
template <class T>
__device__ void copy_keys(const QueriesShared<T>& shared, const KeySteps& steps,
                          const CUtensorMap& q, const CUtensorMap& k, const CUtensorMap& v,
                          const CUtensorMap& grad) {
  shared.q_full().expect(2 * T::kQueryBytes);
  copy_rows<T::kQueries, T::kHeadDim>(shared.q(), q, steps.query, steps.head, shared.q_full());
  copy_rows<T::kQueries, T::kHeadDim>(shared.grad(), grad, steps.query, steps.head,
                                      shared.q_full());
  Ring<T::kStages> ring;
  for (int step = 0; step < steps.count; ++step, ring.advance()) {
    const Mbarrier k_full = shared.k_full(ring.stage), v_full = shared.v_full(ring.stage);
    shared.k_empty(ring.stage).wait(ring.phase ^ 1);
    k_full.expect(T::kKeyBytes);
    copy_rows<T::kKeys, T::kHeadDim>(shared.k(ring.stage), k, step * T::kKeys, steps.kv_head,
                                     k_full);
    shared.v_empty(ring.stage).wait(ring.phase ^ 1);
    v_full.expect(T::kKeyBytes);
    copy_rows<T::kKeys, T::kHeadDim>(shared.v(ring.stage), v, step * T::kKeys, steps.kv_head,
                                     v_full);
  }
}

/// Sets S of keys beyond the end, or later than the query, to -∞, so that P is 0. `query` is the
/// first of the lane's two rows, `key` the place of column 0.
template <int kColumns>
__device__ void mask_scores(float (&s)[kColumns / 2], const Work& work, int query, int key,
                            int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int past = work.seq_kv - key;  // columns from there on are masked
    if (work.causal) past = min(past, query + 8 * half + work.shift() + 1 - key);
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        if (8 * j + lane % 4 * 2 + i >= past) s[4 * j + 2 * half + i] = -INFINITY;
      }
    }
  }
}

/// Runs all steps of a warpgroup; dq is complete afterwards.
template <class T>
__device__ void sum_keys(const QueriesShared<T>& shared, const Work& work, const KeySteps& steps,
                         int warpgroup, float (&dq)[T::kHeadDim / 2]) {
  using Element = typename T::Element;
  const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
  const int warp = thread / 32, lane = thread % 32;
  const int query = steps.query + 64 * warpgroup;  // the warpgroup's first
  const int row = query + warp * 16 + lane / 4;
  const std::int64_t place = std::int64_t{steps.head} * work.rows + row;
  const float lse[2] = {work.lse[place], work.lse[place + 8]};
  const float d[2] = {work.d[place], work.d[place + 8]};
  const float c = work.exponent_scale();

  const auto own = static_cast<unsigned>(64 * warpgroup * kPanelBytes);
  const unsigned q_rows = along_k(shared.q() + own), grad_rows = along_k(shared.grad() + own);
  const unsigned k_rows = along_k(shared.k(0));
  const unsigned k_down = across_k(shared.k(0), T::kKeyPanel);
  // The stages of V follow those of K.
  constexpr auto kStageStep = static_cast<unsigned>(T::kKeyBytes / gemm::kChunkBytes);
  constexpr unsigned kValues = T::kStages * kStageStep;

  float s[T::kKeys / 2], dp[T::kKeys / 2];
  Ring<T::kStages> ring;
  shared.q_full().wait(0);
  shared.k_full(0).wait(0);
  gemm::begin_products();
  multiply_head<Element, T::kKeys, T::kHeadDim, T::kQueries, T::kKeys>(s, q_rows, k_rows);
  gemm::commit_products();

#pragma unroll 1
  for (int step = 0; step < steps.count; ++step) {
    const unsigned stage = static_cast<unsigned>(ring.stage) * kStageStep;
    const int done = ring.stage;
    shared.v_full(ring.stage).wait(ring.phase);
    gemm::wait_for_products<0>();  // S
    gemm::settle(s);
    gemm::begin_products();
    multiply_head<Element, T::kKeys, T::kHeadDim, T::kQueries, T::kKeys>(dp, grad_rows,
                                                                         k_rows + kValues + stage);
    gemm::commit_products();

    const int key = step * T::kKeys;
    if (key + T::kKeys > work.seq_kv ||
        (work.causal && key + T::kKeys - 1 > query + work.shift())) {
      mask_scores<T::kKeys>(s, work, row, key, lane);
    }
#pragma unroll
    for (int i = 0; i < T::kKeys / 2; ++i) s[i] = exp2_of(s[i] * c - lse[i / 2 % 2]);
    gemm::wait_for_products<0>();  // dP
    gemm::settle(dp);
    release(shared.v_empty(done));
    unsigned ds_held[T::kKeys / 16][4];
#pragma unroll
    for (int i = 0; i < T::kKeys / 16; ++i) {
#pragma unroll
      for (int j = 8 * i; j < 8 * i + 8; ++j) s[j] *= dp[j] - d[j / 2 % 2];
      pack<Element>(ds_held[i], s, i);
    }
    gemm::begin_products();
    multiply_held<Element, T::kHeadDim>(dq, ds_held, k_down + stage);
    gemm::commit_products();
    // After the last step S of the same stage is computed again and not read, so that the products
    // are the same in every step.
    if (step + 1 < steps.count) {
      ring.advance();
      shared.k_full(ring.stage).wait(ring.phase);
    }
    gemm::begin_products();
    multiply_head<Element, T::kKeys, T::kHeadDim, T::kQueries, T::kKeys>(
        s, q_rows, k_rows + static_cast<unsigned>(ring.stage) * kStageStep);
    gemm::commit_products();
    gemm::wait_for_products<1>();  // dQ
    release(shared.k_empty(done));
  }
  gemm::wait_for_products<0>();
  gemm::settle(s);
  gemm::settle(dq);
}

/// Grid: tiles of queries × query heads.
template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    queries_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v, const __grid_constant__ CUtensorMap grad,
                   const __grid_constant__ CUtensorMap dq_map, const __grid_constant__ Work work) {
  extern __shared__ unsigned char dynamic[];
  const QueriesShared<T> shared{(rows::shared_address(dynamic) + kAlignment - 1) / kAlignment *
                                kAlignment};
  if (threadIdx.x == 0) {
    for (int s = 0; s < T::kStages; ++s) {
      gemm::init(shared.k_full(s), 1);
      gemm::init(shared.v_full(s), 1);
      gemm::init(shared.k_empty(s), kSummingWarps);
      gemm::init(shared.v_empty(s), kSummingWarps);
    }
    gemm::init(shared.q_full(), 1);
    Mbarrier::publish_init();
  }
  if (threadIdx.x == 32) {
    for (const CUtensorMap* map : {&q, &k, &v, &grad, &dq_map}) gemm::prefetch(*map);
  }
  __syncthreads();

  const KeySteps steps = KeySteps::of<T>(work);
  const int warpgroup = warpgroup_index() - 1;
  if (warpgroup < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCopyRegisters));
    if (threadIdx.x == 0) copy_keys<T>(shared, steps, q, k, v, grad);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kSumRegisters));
    float dq[T::kHeadDim / 2] = {};
    sum_keys<T>(shared, work, steps, warpgroup, dq);
    // Only this warpgroup's products read these lines of Q, and they are done.
    store_rows<typename T::Element, T::kHeadDim, T::kQueryPanel>(
        dq_map, shared.q() + static_cast<unsigned>(64 * warpgroup * kPanelBytes), dq, work.scale, 0,
        steps.query + 64 * warpgroup, steps.head, warpgroup);
    if (threadIdx.x % kWarpgroup == 0) wait_for_stores();
  }
}

}  // namespace roofcast::cuda::attention::flash3_backward
