#pragma once
// attention.flash2, backward: the passes before and after. Before: lse·log2(e) and D = Σ dO·O of
// each query. After: dQ rounded to its type.
#include "kernels/attention/instructions.cuh"
#include "kernels/common/element.cuh"
#include "kernels/common/exponential.cuh"
#include "kernels/gemm/mma.cuh"

namespace roofcast::cuda::attention::mma {

inline constexpr int kPassThreads = 256;
inline constexpr int kRowLanes = 16;  ///< lanes of a row, 16 bytes each at a time
inline constexpr int kPassRows = kPassThreads / kRowLanes;

template <class Element>
__device__ void widen_chunk(const Element* from, float (&to)[8]) {
  const uint4 four = *reinterpret_cast<const uint4*>(from);
  Element element[8];
  __builtin_memcpy(element, &four, sizeof(four));
#pragma unroll
  for (int e = 0; e < 8; ++e) to[e] = widen(element[e]);
}

/// Writes {lse·log2(e), D = Σ dO·O} of each of `rows` queries, and zeros to dq if it is not null.
/// Matrices begin at multiples of 16 bytes.
template <class Element>
__global__ void __launch_bounds__(kPassThreads)
    rows_kernel(const Element* __restrict__ d_o, const Element* __restrict__ o,
                const float* __restrict__ lse, std::int64_t rows, int head_dim,
                float2* __restrict__ result, float* __restrict__ dq) {
  const int lane = static_cast<int>(threadIdx.x) % kRowLanes;
  const std::int64_t row =
      std::int64_t{blockIdx.x} * kPassRows + static_cast<int>(threadIdx.x) / kRowLanes;
  float sum = 0;
  for (int column = lane * 8; column < head_dim && row < rows; column += kRowLanes * 8) {
    const std::int64_t at = row * head_dim + column;
    float a[8], b[8];
    widen_chunk(d_o + at, a);
    widen_chunk(o + at, b);
#pragma unroll
    for (int e = 0; e < 8; ++e) sum = fmaf(a[e], b[e], sum);
    if (dq != nullptr) {
      auto* const to = reinterpret_cast<float4*>(dq + at);
      to[0] = to[1] = make_float4(0, 0, 0, 0);
    }
  }
#pragma unroll
  for (int apart = kRowLanes / 2; apart > 0; apart /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, apart);
  }
  if (lane == 0 && row < rows) result[row] = make_float2(lse[row] * kLog2E, sum);
}

/// Rounds fp32 sums to elements, eight a thread. Both begin at multiples of 16 bytes.
template <class Element>
__global__ void __launch_bounds__(kPassThreads)
    round_kernel(const float* __restrict__ sums, std::int64_t chunks, Element* __restrict__ to) {
  const std::int64_t chunk = std::int64_t{blockIdx.x} * kPassThreads + threadIdx.x;
  if (chunk >= chunks) return;
  const auto* const from = reinterpret_cast<const float4*>(sums + chunk * 8);
  const float4 first = from[0], second = from[1];
  const std::uint32_t word[4] = {
      gemm::pair_of<Element>(first.x, first.y), gemm::pair_of<Element>(first.z, first.w),
      gemm::pair_of<Element>(second.x, second.y), gemm::pair_of<Element>(second.z, second.w)};
  store_chunk(to + chunk * 8, word);
}

}  // namespace roofcast::cuda::attention::mma
