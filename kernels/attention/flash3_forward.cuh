#pragma once
// attention.flash3, forward: the tensor cores and the copy engine of Hopper (compute capability
// 9.0a).
//
// One pass over K and V for each tile of queries, with online softmax: S and P never leave the SM.
// A score costs 4·d FLOP on the tensor cores (4096 per clock and SM) and one exponential on the
// special-function unit (16 per clock): at d = 128 the exponentials take half as long as the
// products. So the kernel overlaps the two.
//
// 1. One thread of a producer warpgroup copies by TMA; setmaxnreg gives the registers of its
//    warpgroup to the consumers. K and V have rings of their own, since S(j+1) = Q·K(j+1)ᵀ is
//    needed one step before V(j+1).
// 2. A consumer warpgroup has 64 queries. It starts S(j+1), starts O += P(j)·V(j), and takes the
//    softmax of S(j+1) while P·V is multiplied. The sums of S have the register layout of the A
//    operand, so P needs no shared memory.
// 3. Warpgroups take turns to start products: while one multiplies, another takes exponentials.
// 4. The reference maximum is kept as long as no exponential exceeds 2^8: sums and O are fp32 and
//    lose nothing, and O is rarely rescaled.
// 5. Steps go from the last key to the first, so steps that a mask cuts come first, in a loop of
//    their own. Steps without a visible key are left out.
// 6. Blocks are persistent: the next Q is copied while this O is divided and stored. Long tiles go
//    first, over as many heads as fit in L2 together. Where a mask makes tiles unequal, a block
//    that is done takes the next tile from a counter.
//
// Traffic of a tile: Q and O once; K and V of its visible keys from L2, from DRAM once a head.
#include <cstdint>

#include "kernels/attention/flash3_softmax.cuh"
#include "kernels/attention/flash3_tile.cuh"
#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/wgmma_instruction.cuh"

namespace roofcast::cuda::attention::hopper {

/// Parameters of the kernel besides the tensor maps.
template <class Element>
struct ForwardWork {
  Tiles tiles;
  int head_dim;
  int group;         ///< query heads that share K and V
  float log2_scale;  ///< scores to exponents of 2: log2(e)/√d
  Element* o;
  float* lse;
  int* taken;  ///< counter of tiles taken beyond each block's first; null: round-robin
};

template <class T>
struct Shared {
  unsigned base;

  __device__ unsigned q(int warpgroup, int stage) const {
    return place(index(warpgroup, stage) * T::kBytesQ);
  }
  __device__ unsigned k(int stage) const {
    return place(T::kTilesQ * T::kBytesQ + stage * T::kBytesKv);
  }
  __device__ unsigned v(int stage) const { return k(T::kStages + stage); }
  /// Where the producer writes the tile that a warpgroup's Q belongs to.
  __device__ unsigned tile(int warpgroup, int stage) const {
    return k(2 * T::kStages) + static_cast<unsigned>(index(warpgroup, stage) * kTileBytes);
  }
  __device__ Mbarrier q_full(int w, int stage) const { return barrier(index(w, stage)); }
  __device__ Mbarrier q_empty(int w, int stage) const {
    return barrier(T::kTilesQ + index(w, stage));
  }
  __device__ Mbarrier k_full(int s) const { return stage_barrier(0, s); }
  __device__ Mbarrier k_empty(int s) const { return stage_barrier(1, s); }
  __device__ Mbarrier v_full(int s) const { return stage_barrier(2, s); }
  __device__ Mbarrier v_empty(int s) const { return stage_barrier(3, s); }

 private:
  __device__ static int index(int warpgroup, int stage) { return warpgroup * T::kStagesQ + stage; }
  __device__ unsigned place(int bytes) const { return base + static_cast<unsigned>(bytes); }
  __device__ Mbarrier barrier(int i) const {
    return {tile(T::kWarpgroups, 0) + static_cast<unsigned>(i * 8)};
  }
  __device__ Mbarrier stage_barrier(int kind, int stage) const {
    return barrier(2 * T::kTilesQ + kind * T::kStages + stage);
  }
};

/// Run by one thread: copies Q, K and V of every tile of this block, in the order of their use.
template <class T>
__device__ void produce(const Shared<T>& shared, const Tiles& tiles, int group, int* taken,
                        const CUtensorMap& q, const CUtensorMap& k, const CUtensorMap& v) {
  gemm::Ring<T::kStages> ring_k, ring_v;
  gemm::Ring<T::kStagesQ> ring_q;
  const auto copy = [](const CUtensorMap& map, unsigned to, int lines, int row, int head,
                       Mbarrier full) {
#pragma unroll
    for (int p = 0; p < T::kPanels; ++p) {
      gemm::copy_box(to + static_cast<unsigned>(p * lines * gemm::kPanelBytes), map,
                     p * kPanelElements, row, head, full);
    }
  };
  const auto stage = [&](const CUtensorMap& map, unsigned to, int step, int head, Mbarrier full,
                         Mbarrier empty, unsigned phase) {
    empty.wait(phase ^ 1);
    full.expect(T::kBytesKv);
    copy(map, to, T::kKeys, step * T::kKeys, head, full);
  };
  const auto blocks = static_cast<int>(gridDim.x);
  // Tells a consumer its tile, once it has released the stage of Q; the arrival of Q publishes it.
  const auto announce = [&](int w, const Tiles::Tile& tile) {
    shared.q_empty(w, ring_q.stage).wait(ring_q.phase ^ 1);
    asm volatile("st.shared.v4.s32 [%0], {%1, %2, %3, %4};" ::"r"(shared.tile(w, ring_q.stage)),
                 "r"(tile.head), "r"(tile.query0), "r"(tile.steps), "r"(tile.full_steps)
                 : "memory");
  };
  int index = static_cast<int>(blockIdx.x);
  while (index < tiles.count()) {
    const auto tile = tiles.tile(index);
    const int kv_head = tile.head / group;
    for (int w = 0; w < T::kWarpgroups; ++w) {
      announce(w, tile);
      const Mbarrier full = shared.q_full(w, ring_q.stage);
      full.expect(T::kBytesQ);
      copy(q, shared.q(w, ring_q.stage), kRowsOfWarpgroup, tile.query0 + w * kRowsOfWarpgroup,
           tile.head, full);
    }
    ring_q.advance();
    index = taken != nullptr ? blocks + atomicAdd(taken, 1) : index + blocks;
    // K is one step ahead of V.
    for (int step = tile.steps - 1; step >= -1; --step) {
      if (step >= 0) {
        stage(k, shared.k(ring_k.stage), step, kv_head, shared.k_full(ring_k.stage),
              shared.k_empty(ring_k.stage), ring_k.phase);
        ring_k.advance();
      }
      if (step + 1 < tile.steps) {
        stage(v, shared.v(ring_v.stage), step + 1, kv_head, shared.v_full(ring_v.stage),
              shared.v_empty(ring_v.stage), ring_v.phase);
        ring_v.advance();
      }
    }
  }
  for (int w = 0; w < T::kWarpgroups; ++w) {  // an empty tile: no more follow
    announce(w, {});
    gemm::arrive(shared.q_full(w, ring_q.stage));
  }
}

/// A consumer warpgroup: scores, softmax and O of its 64 queries.
template <class T>
class Consumer {
 public:
  using Element = typename T::Element;

  __device__ Consumer(const Shared<T>& shared, const ForwardWork<Element>& work, int warpgroup)
      : shared_(shared), work_(work), warpgroup_(warpgroup) {
    if (warpgroup == T::kWarpgroups - 1) pass_turn();
  }

  __device__ void run() {
    float score[T::kScores];
    Tiles::Tile tile = next();
    first_scores(tile, score);
    while (tile.steps > 0) tile = one(tile, score);
    gemm::wait_for_products<0>();
    if (warpgroup_ == 0) wait_turn();  // takes the turn that the last warpgroup passed on
  }

 private:
  __device__ void wait_turn() const {
    asm volatile("bar.sync %0, 256;" ::"r"(1 + warpgroup_) : "memory");
  }
  __device__ void pass_turn() const {
    asm volatile("bar.arrive %0, 256;" ::"r"(1 + (warpgroup_ + 1) % T::kWarpgroups) : "memory");
  }
  __device__ static void release(Mbarrier empty) {
    if (threadIdx.x % 32 == 0) gemm::arrive(empty);
  }

  __device__ void release_q() {
    // Every lane arrives, as each has read the tile.
    gemm::arrive(shared_.q_empty(warpgroup_, ring_q_.stage));
    ring_q_.advance();
  }

  /// Waits for the next Q and returns its tile; after the last one, a tile without steps.
  __device__ Tiles::Tile next() {
    shared_.q_full(warpgroup_, ring_q_.stage).wait(ring_q_.phase);
    Tiles::Tile tile;
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile.head), "=r"(tile.query0), "=r"(tile.steps), "=r"(tile.full_steps)
                 : "r"(shared_.tile(warpgroup_, ring_q_.stage))
                 : "memory");
    // Tells the compiler that the values are uniform: it keeps them in uniform registers.
    for (int* value : {&tile.head, &tile.query0, &tile.steps, &tile.full_steps}) {
      *value = __shfl_sync(kAllLanes, *value, 0);
    }
    return tile;
  }

  /// Starts S = Q·Kᵀ.
  __device__ void start_scores(float (&score)[T::kScores]) const {
    const std::uint64_t q = gemm::descriptor(shared_.q(warpgroup_, ring_q_.stage), 16, kLinesBytes);
    const std::uint64_t k = gemm::descriptor(shared_.k(ring_k_.stage), 16, kLinesBytes);
    gemm::begin_products();
#pragma unroll
    for (int s = 0; s < T::kHead / kStep; ++s) {
      constexpr int kSteps = kPanelElements / kStep;
      const int panel = s / kSteps, within = s % kSteps * gemm::kStepBytes;
      gemm::multiply<Element, T::kKeys, true>(
          score, q + (panel * kRowsOfWarpgroup * gemm::kPanelBytes + within) / 16,
          k + (panel * T::kKeys * gemm::kPanelBytes + within) / 16, s > 0);
    }
    gemm::commit_products();
  }
  /// Starts S of a tile's last keys. Without a tile it multiplies stale data and nobody reads the
  /// result: a branch around products in flight would make the compiler wait for them.
  __device__ void first_scores(const Tiles::Tile& tile, float (&score)[T::kScores]) const {
    const bool there = tile.steps > 0;
    if (there) {
      shared_.k_full(ring_k_.stage).wait(ring_k_.phase);
      wait_turn();
    }
    start_scores(score);
    if (there) pass_turn();
  }
  /// Starts O (+)= P·V.
  __device__ void start_sums(float (&o)[T::kSums], const std::uint32_t (&p)[T::kScores / 8][4],
                             bool accumulate) const {
    const std::uint64_t v =
        gemm::descriptor(shared_.v(ring_v_.stage), T::kKeys * gemm::kPanelBytes, kLinesBytes);
    gemm::begin_products();
#pragma unroll
    for (int s = 0; s < T::kKeys / kStep; ++s) {
      gemm::multiply_held<Element, T::kHead>(o, p[s], v + s * kStep * gemm::kPanelBytes / 16,
                                             accumulate || s > 0);
    }
    gemm::commit_products();
  }

  template <bool kMasked>
  __device__ void step(int j, bool accumulate, float (&score)[T::kScores], float (&o)[T::kSums],
                       std::uint32_t (&p)[T::kScores / 8][4], RowState& state) {
    float scale[2];
    shared_.k_full(ring_k_.stage).wait(ring_k_.phase);
    wait_turn();
    start_scores(score);
    shared_.v_full(ring_v_.stage).wait(ring_v_.phase);
    start_sums(o, p, accumulate);
    pass_turn();
    gemm::wait_for_products<1>();
    gemm::settle(score);
    release(shared_.k_empty(ring_k_.stage));
    ring_k_.advance();
    if (j == 0) release_q();
    if constexpr (kMasked) mask(score, work_.tiles, query_, j * T::kKeys);
    const bool rescale = exponentials(score, state, work_.log2_scale, scale);
    gemm::wait_for_products<0>();
    gemm::settle(o);
    release(shared_.v_empty(ring_v_.stage));
    ring_v_.advance();
    if (rescale) {
#pragma unroll
      for (int i = 0; i < T::kSums; ++i) o[i] *= scale[i % 4 / 2];
    }
    round_to<Element>(score, p);
  }

  /// Computes a tile whose first scores are in flight, starts the first scores of the next tile and
  /// returns that tile. Where Q has two stages, those products overlap the division and store of O.
  __device__ Tiles::Tile one(const Tiles::Tile& tile, float (&score)[T::kScores]) {
    float o[T::kSums];
    std::uint32_t p[T::kScores / 8][4];
    RowState state;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    query_ = tile.query0 + warpgroup_ * kRowsOfWarpgroup +
             static_cast<int>(threadIdx.x) % kWarpgroup / 32 * 16 + lane / 4;
    gemm::wait_for_products<0>();
    gemm::settle(score);
    release(shared_.k_empty(ring_k_.stage));
    ring_k_.advance();
    if (tile.steps == 1) release_q();
    if (tile.steps > tile.full_steps) {
      mask(score, work_.tiles, query_, (tile.steps - 1) * T::kKeys);
    }
    float scale[2];
    exponentials(score, state, work_.log2_scale, scale);
    round_to<Element>(score, p);
    int j = tile.steps - 2;
#pragma unroll 1
    for (; j >= tile.full_steps; --j) step<true>(j, j < tile.steps - 2, score, o, p, state);
#pragma unroll 1
    for (; j >= 0; --j) step<false>(j, j < tile.steps - 2, score, o, p, state);
    shared_.v_full(ring_v_.stage).wait(ring_v_.phase);
    start_sums(o, p, tile.steps > 1);
    const auto finish = [&] {
      gemm::settle(o);
      release(shared_.v_empty(ring_v_.stage));
      ring_v_.advance();
      store(tile, o, state);
    };
    if constexpr (T::kStagesQ == 1) {  // the next Q is in flight meanwhile
      gemm::wait_for_products<0>();
      finish();
    }
    const Tiles::Tile following = next();
    first_scores(following, score);
    if constexpr (T::kStagesQ > 1) {
      gemm::wait_for_products<1>();
      finish();
    }
    return following;
  }

  __device__ void store(const Tiles::Tile& tile, float (&o)[T::kSums], const RowState& state) {
    const int lane = static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float sum = state.sum[r];
      sum += __shfl_xor_sync(kAllLanes, sum, 1);
      sum += __shfl_xor_sync(kAllLanes, sum, 2);
      const float share = sum > 0 ? 1 / sum : 0;
      const int query = query_ + r * 8;
      const bool there = query < work_.tiles.seq_q;
      const std::int64_t row = std::int64_t{tile.head} * work_.tiles.seq_q + query;
      if (there && lane == 0) {
        constexpr float kLn2 = 0.693147180559945F;
        work_.lse[row] = (state.most[r] * work_.log2_scale + log2f(sum)) * kLn2;
      }
      Element* const to = work_.o + row * work_.head_dim;
#pragma unroll
      for (int i = 0; i < T::kSums; i += 16) {  // four tiles of 8 columns
        std::uint32_t word[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
          word[t] = gemm::pair_of<Element>(o[i + t * 4 + r * 2] * share,
                                           o[i + t * 4 + r * 2 + 1] * share);
        }
        exchange(word);
        const int column = (i / 4 + lane) * 8;
        if (there && column < work_.head_dim) store_chunk(to + column, word);
      }
    }
  }

  const Shared<T>& shared_;
  const ForwardWork<Element>& work_;
  int warpgroup_;
  int query_ = 0;  ///< this thread's first row
  gemm::Ring<T::kStagesQ> ring_q_;
  gemm::Ring<T::kStages> ring_k_, ring_v_;
};

template <class T>
__global__ void __launch_bounds__(T::kThreads, 1)
    forward_kernel(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap k,
                   const __grid_constant__ CUtensorMap v,
                   const __grid_constant__ ForwardWork<typename T::Element> work) {
  extern __shared__ unsigned char dynamic[];
  const Shared<T> shared{(rows::shared_address(dynamic) + kAlignment - 1) / kAlignment *
                         kAlignment};
  if (threadIdx.x == 0) {
    gemm::prefetch(q);
    gemm::prefetch(k);
    gemm::prefetch(v);
    for (int w = 0; w < T::kWarpgroups; ++w) {
      for (int s = 0; s < T::kStagesQ; ++s) {
        gemm::init(shared.q_full(w, s), 1);
        gemm::init(shared.q_empty(w, s), kWarpgroup);
      }
    }
    for (int s = 0; s < T::kStages; ++s) {
      gemm::init(shared.k_full(s), 1);
      gemm::init(shared.v_full(s), 1);
      gemm::init(shared.k_empty(s), T::kWarpgroups * kWarpgroup / 32);
      gemm::init(shared.v_empty(s), T::kWarpgroups * kWarpgroup / 32);
    }
    Mbarrier::publish_init();
  }
  __syncthreads();
  const int warpgroup = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
  if (warpgroup < 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(T::kProducerRegisters));
    if (threadIdx.x == 0) produce<T>(shared, work.tiles, work.group, work.taken, q, k, v);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(T::kConsumerRegisters));
    Consumer<T>(shared, work, warpgroup).run();
  }
}

}  // namespace roofcast::cuda::attention::hopper
