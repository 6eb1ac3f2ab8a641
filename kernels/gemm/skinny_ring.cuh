#pragma once
// gemm.skinny for more than 8 tokens: weights and tokens through a ring of shared memory
// (skinny.cu).
#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/gemm/joined_parts.cuh"
#include "kernels/gemm/mma_tile.cuh"
#include "kernels/gemm/skinny.hpp"

namespace roofcast::cuda::gemm::skinny_kernels {

/// Stores a warp's sums to C one by one, for rows of C that are rows of weights.
template <class T>
__device__ void store_each(const typename T::Sum (&sum)[T::kDown][T::kAcross][4], const Skinny& p,
                           typename T::Element* c, int row0, int thread) {
  const int lane = thread % 32, warp = thread / 32;
  const int first_row = row0 + T::column_of(warp);
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const Place place = sum_place(lane, i);
        const int token = T::row_of(warp) + d * 16 + place.row;
        const int row = first_row + q * 8 + place.column;
        if (token >= p.tokens || row >= p.rows) continue;
        c[row * p.c_row + token * p.c_token] = narrow<typename T::Element>(sum[d][q][i]);
      }
    }
  }
}

template <class T>
using PartsOfRing = BlockParts<float4, T::kDown * T::kAcross, T::kThreads>;

/// T: a tile with the tokens as its rows and the rows of weights as its columns.
/// Grid: tiles of rows of weights × parts of k × matrices.
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
  if (p.parts > 1) {
    using Parts = PartsOfRing<T>;
    auto& flat = reinterpret_cast<typename Parts::Sums&>(sum);
    const Parts parts(p.workspace, before * gridDim.x + blockIdx.x, p.parts);
    if (parts.leaves(part)) {
      parts.leave(part, flat);
      return;
    }
    parts.join(flat);
  }
  if (p.c_row == 1) {
    store_tile_of_sums<T>(sum, shape, c, tile, dynamic, thread);
  } else {
    store_each<T>(sum, p, c, tile.column, thread);
  }
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
