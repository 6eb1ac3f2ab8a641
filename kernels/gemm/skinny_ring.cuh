#pragma once
// gemm.skinny for more than 8 tokens: weights and tokens through a ring of shared memory (skinny.cu).
#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/gemm/mma_tile.cuh"
#include "kernels/gemm/skinny.hpp"

namespace roofcast::cuda::gemm::skinny_kernels {

/// Two sums of neighbouring rows of weights of a token. `row`: elements from one to the next; `pair`:
/// whether they lie side by side, at a multiple of their size.
template <class To>
__device__ void store_two(To* to, float first, float second, std::int64_t row, bool second_is_there,
                          bool pair) {
  if constexpr (sizeof(To) == sizeof(float)) {
    if (pair && second_is_there) {
      *reinterpret_cast<float2*>(to) = {first, second};
      return;
    }
  }
  to[0] = narrow<To>(first);
  if (second_is_there) to[row] = narrow<To>(second);
}

/// The sums of a warp to their places: `row` and `token` are the elements from one to the next.
template <class T, class To>
__device__ void store_each(const typename T::Sum (&sum)[T::kDown][T::kAcross][4], const Skinny& p,
                           To* to, std::int64_t row, std::int64_t token, int row0, int thread) {
  const int lane = thread % 32, warp = thread / 32;
  const int first_row = row0 + T::column_of(warp);
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  const bool pair = row == 1 && token % 2 == 0 && address % (2 * sizeof(To)) == 0;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int of_token = T::row_of(warp) + d * 16 + place.row;
        const int of_row = first_row + q * 8 + place.column;
        if (of_token >= p.tokens || of_row >= p.rows) continue;
        store_two(to + of_row * row + of_token * token, sum[d][q][i], sum[d][q][i + 1], row,
                  of_row + 1 < p.rows, pair);
      }
    }
  }
}

/// T: a tile with the tokens as its rows and the rows of weights as its columns.
/// Blocks: rows of weights × parts of k × matrices.
template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks)
    ring_kernel(const __grid_constant__ Skinny p, const typename T::Element* __restrict__ weights,
                const typename T::Element* __restrict__ tokens,
                typename T::Element* __restrict__ c) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
  const auto thread = static_cast<int>(threadIdx.x);
  const auto before = static_cast<std::int64_t>(blockIdx.z);
  const auto part = static_cast<int>(blockIdx.y);
  const Place tile = {0, static_cast<int>(blockIdx.x) * T::kColumns};
  Shape shape{};
  shape.m = p.tokens, shape.n = p.rows, shape.k = p.k;
  shape.row_a = p.row_tokens, shape.row_b = p.row_weights, shape.row_c = p.c_token;

  typename T::Sum sum[T::kDown][T::kAcross][4] = {};
  sum_tile<T>(sum, shape, tokens + before * (T::kTransposedA ? p.k : p.tokens) * p.row_tokens,
              weights + before * (T::kTransposedB ? p.rows : p.k) * p.row_weights, tile,
              part_of((p.k + T::kDepth - 1) / T::kDepth, part, p.parts),
              static_cast<unsigned>(__cvta_generic_to_shared(dynamic)), thread);
  c += before * p.matrix_c;
  if (p.sums != nullptr) {
    const std::int64_t matrix = std::int64_t{part} * p.matrices + before;
    store_each<T>(sum, p, p.sums + matrix * p.rows * p.tokens, p.sums_row, p.sums_token,
                  tile.column, thread);
  } else if (p.c_row == 1) {
    store_tile_of_sums<T>(sum, shape, c, tile, dynamic, thread);
  } else {
    store_each<T>(sum, p, c, p.c_row, p.c_token, tile.column, thread);
  }
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
