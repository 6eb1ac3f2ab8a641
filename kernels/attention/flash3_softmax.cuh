#pragma once
// The online softmax of attention.flash3 forward: scores in the registers where wgmma leaves them
// become the A operand of P·V.
#include <cmath>
#include <cstdint>

#include "kernels/attention/flash3_tile.cuh"
#include "kernels/attention/tiles.hpp"
#include "kernels/common/exponential.cuh"
#include "kernels/gemm/mma.cuh"

namespace roofcast::cuda::attention::hopper {

/// The running maximum and sum of each of a thread's two rows. The maximum is common to the four
/// lanes of a row; the sum is this lane's part.
struct RowState {
  float most[2] = {-INFINITY, -INFINITY};
  float sum[2] = {0, 0};
};

/// Turns scores into 2^(log2_scale·(score − most)). The maxima are updated only if one of the
/// warp's rows grew by more than kBorne; then O must be multiplied by `scale`, and the result is
/// true.
template <int kCount>
__device__ bool exponentials(float (&score)[kCount], RowState& state, float log2_scale,
                             float (&scale)[2]) {
  constexpr float kBorne = 8;  // exponents of 2
  float most[2] = {state.most[0], state.most[1]};
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    most[0] = fmaxf(most[0], fmaxf(score[i], score[i + 1]));
    most[1] = fmaxf(most[1], fmaxf(score[i + 2], score[i + 3]));
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAllLanes, most[r], 1));
    most[r] = fmaxf(most[r], __shfl_xor_sync(kAllLanes, most[r], 2));
  }
  // False while a row has seen no key: -inf - -inf.
  const auto exceeds = [&](int r) { return (most[r] - state.most[r]) * log2_scale > kBorne; };
  const bool rescale = __any_sync(kAllLanes, exceeds(0) || exceeds(1));
  if (rescale) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      scale[r] = most[r] == -INFINITY ? 1 : exp2f((state.most[r] - most[r]) * log2_scale);
      state.sum[r] *= scale[r];
      state.most[r] = most[r];
    }
  }
  const float offset[2] = {state.most[0] == -INFINITY ? 0 : -state.most[0] * log2_scale,
                           state.most[1] == -INFINITY ? 0 : -state.most[1] * log2_scale};
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      score[i + j] = exp2_of(fmaf(score[i + j], log2_scale, offset[j / 2]));
      state.sum[j / 2] += score[i + j];
    }
  }
  return rescale;
}

/// Sets the scores of keys that a query does not see, or that do not exist, to −∞.
template <int kCount>
__device__ void mask(float (&score)[kCount], const Tiles& tiles, int query, int key0) {
  const int past[2] = {tiles.visible(query), tiles.visible(query + 8)};
  const int column = key0 + static_cast<int>(threadIdx.x % 4) * 2;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    if (column + i / 4 * 8 + i % 2 >= past[i % 4 / 2]) score[i] = -INFINITY;
  }
}

/// Rounds the probabilities to the A operand of P·V, 16 keys an instruction.
template <class Element, int kCount>
__device__ void round_to(const float (&score)[kCount], std::uint32_t (&p)[kCount / 8][4]) {
#pragma unroll
  for (int i = 0; i < kCount / 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      p[i][j] = gemm::pair_of<Element>(score[i * 8 + j * 2], score[i * 8 + j * 2 + 1]);
    }
  }
}

}  // namespace roofcast::cuda::attention::hopper
