#pragma once
// What the kernels of the forward pass share: a part of a row's statistics, and how parts merge.
//
// The variance is computed from centred elements, never as Σx² - (Σx)²/n, which cancels. Each warp
// centres by its own mean; parts of n elements, mean m and sum of squares q merge by
//   q = Σ q_i + Σ n_i·(m_i - m)²                                        (Chan, Golub, LeVeque 1979)
// so that warps or blocks exchange parts once instead of twice.
#include "kernels/norm/norm.cuh"

namespace roofcast::cuda::norm {

constexpr int kMaxThreads = static_cast<int>(roofcast::norm::kMostThreads);
constexpr int kMaxWarps = kMaxThreads / 32;

/// A part's number of elements (x), mean (y) and sum of squares about the mean (z). For rmsnorm x
/// and y are 0, and z is the sum of squares.
using Part = float4;

__device__ inline float rsqrt_of(float mean_square) {
  return rsqrtf(mean_square + static_cast<float>(kEpsilon));
}

/// Merges the parts of a row into its mean (x) and the mean square about it (y). Each warp merges
/// for itself.
__device__ inline float2 merge(const Part* parts, int count, int cols) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const float share = 1.0F / static_cast<float>(cols);
  float sum = 0, squares = 0;
#pragma unroll 1
  for (int i = lane; i < count; i += 32) sum += parts[i].x * parts[i].y;
  const float mean = rows::warp_sum(sum) * share;
#pragma unroll 1
  for (int i = lane; i < count; i += 32) {
    const float off = parts[i].y - mean;
    squares += parts[i].z + parts[i].x * off * off;
  }
  return {mean, rows::warp_sum(squares) * share};
}

/// This warp's part of a row: the vectors i for which in_row(i) holds, and each thread's edge
/// element if `has_edge`.
template <Kind kKind, int kWidth, int kVectors, class InRow>
__device__ Part part_of_warp(const float (&value)[kVectors * kWidth], InRow&& in_row, bool has_edge,
                             float edge) {
  Part warp = {0, 0, 0, 0};
  if constexpr (kKind == Kind::layernorm) {
    float sum = edge;
#pragma unroll
    for (int i = 0; i < kVectors * kWidth; ++i) sum += value[i];
    int elements = has_edge ? 1 : 0;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) elements += in_row(i) ? kWidth : 0;
#pragma unroll
    for (int apart = 16; apart > 0; apart /= 2) {
      elements += __shfl_xor_sync(rows::kAllLanes, elements, apart);
    }
    warp.x = static_cast<float>(elements);
    warp.y = warp.x > 0 ? rows::warp_sum(sum) / warp.x : 0.0F;
  }
  float squares = has_edge ? (edge - warp.y) * (edge - warp.y) : 0.0F;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    if (!in_row(i)) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const float off = value[i * kWidth + e] - warp.y;
      squares = fmaf(off, off, squares);
    }
  }
  warp.z = rows::warp_sum(squares);
  return warp;
}

/// (x - μ)·r·γ + β for the elements of a vector; rmsnorm: x·r·γ.
template <Kind kKind, class T>
__device__ rows::Packed normalized(const float* value, float mean, float rstd,
                                   const rows::Packed& gamma, const rows::Packed& beta) {
  constexpr int kWidth = rows::kWidth<T>;
  float scale[kWidth], shift[kWidth], result[kWidth];
  rows::unpack<T>(gamma, scale);
  if constexpr (kKind == Kind::layernorm) rows::unpack<T>(beta, shift);
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
    result[e] = kKind == Kind::layernorm ? fmaf((value[e] - mean) * rstd, scale[e], shift[e])
                                         : value[e] * rstd * scale[e];
  }
  return rows::pack<T>(result);
}

/// `normalized` for one element.
template <Kind kKind, class T>
__device__ T normalized_one(const Forward<T>& at, float value, float mean, float rstd, int column) {
  const float scaled = (value - mean) * rstd * widen(at.gamma[column]);
  return narrow<T>(kKind == Kind::layernorm ? scaled + widen(at.beta[column]) : scaled);
}

template <class T>
using ForwardKernel = void (*)(Forward<T>, std::int64_t rows, int cols, int rows_per_cluster);

/// The compiled kernel of forward_several.cu, or nullptr.
template <class T>
ForwardKernel<T> find_several(Kind kind, const rows::Layout& layout);

/// The compiled kernel of forward_ring.cu.
template <class T>
ForwardKernel<T> find_forward_ring(Kind kind, bool clustered);

}  // namespace roofcast::cuda::norm
