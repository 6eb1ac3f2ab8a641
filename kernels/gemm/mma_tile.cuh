#pragma once
// A tile of C by mma.sync, shared by gemm.mma_sync (mma_sync.cu says what is done and why),
// gemm.skinny and attention.standard.
#include <cstdint>
#include <type_traits>

#include "kernels/gemm/line_copy.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {

/// A tile of C, and how its operands lie: A is [m,k], or [k,m] if kTransposedA; B is [k,n], or
/// [n,k] if kTransposedB.
template <class Element_, int kRows_, int kColumns_, int kDepth_, int kWarpsDown_,
          int kWarpsAcross_, int kStages_, int kMinBlocks_, bool kTransposedB_,
          bool kTransposedA_ = false>
struct Tile {
  using Element = Element_;
  using Result = gemm::Result<Element>;
  using Sum = gemm::Sum<Element>;
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kWarpsDown = kWarpsDown_, kWarpsAcross = kWarpsAcross_;
  static constexpr int kStages = kStages_, kMinBlocks = kMinBlocks_;
  static constexpr bool kTransposedA = kTransposedA_, kTransposedB = kTransposedB_;
  static constexpr int kSize = static_cast<int>(sizeof(Element));
  static constexpr int kResultSize = static_cast<int>(sizeof(Result));
  static constexpr int kThreads = 32 * kWarpsDown * kWarpsAcross;
  static constexpr int kSteps = kDepth * kSize / kStepBytes;
  static constexpr int kSlices = kSteps - 1;  // the last step waits for the copies
  static constexpr int kWarpRows = kRows / kWarpsDown, kWarpColumns = kColumns / kWarpsAcross;
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;  // instructions a step
  static constexpr Lines kLinesA = kTransposedA ? Lines::across_k : Lines::along_k;
  static constexpr Lines kLinesB = kTransposedB ? Lines::along_k : Lines::across_k;
  static constexpr int kPanelA = kRows * kSize < kPanelBytes ? kRows * kSize : kPanelBytes;
  using TileA =
      std::conditional_t<kTransposedA,
                         LineTile<kLinesA, kRows * kSize / kPanelA * kDepth, kPanelA, kDepth>,
                         LineTile<Lines::along_k, kRows, kDepth * kSize>>;
  using TileB = std::conditional_t<
      kTransposedB, LineTile<Lines::along_k, kColumns, kDepth * kSize>,
      LineTile<kLinesB, kColumns * kSize / kPanelBytes * kDepth, kPanelBytes, kDepth>>;
  static constexpr int kStageBytes = TileA::kTileBytes + TileB::kTileBytes;
  static constexpr int kSharedBytes = kStages * kStageBytes;
  /// Where the sums of a warp begin in the tile.
  static constexpr __host__ __device__ int row_of(int warp) {
    return warp / kWarpsAcross * kWarpRows;
  }
  static constexpr __host__ __device__ int column_of(int warp) {
    return warp % kWarpsAcross * kWarpColumns;
  }
  static_assert(kWarpRows % 16 == 0 && kWarpColumns % 16 == 0 && kSteps % 2 == 0 && kStages >= 3);
  static_assert(kTransposedB || kColumns * kSize % kPanelBytes == 0);
  static_assert(!kTransposedA || kWarpRows * kSize % kPanelA == 0);
  static_assert(TileA::kTileBytes % 1024 == 0 && TileB::kTileBytes % 1024 == 0);  // of the swizzle
  static_assert(kRows * kColumns * kResultSize <= kSharedBytes);  // C is staged there
};

/// The operands of one step of a warp, and how to read them from a stage of shared memory.
template <class T>
struct Fragments {
  unsigned a[T::kDown][4], b[T::kAcross][2];

  /// `row` and `column` are where the warp's sums begin in the tile.
  __device__ void read(unsigned stage, int step, int row, int column, int lane) {
    using A = typename T::TileA;
    using B = typename T::TileB;
    const unsigned from_a = stage + static_cast<unsigned>(a_offset<A>(row, step, lane));
#pragma unroll
    for (int d = 0; d < T::kDown; ++d) {
      if constexpr (T::kLinesA == Lines::across_k) {
        constexpr int kPanelRows = A::kBytes / T::kSize;  // 16 more are two chunks further
        const unsigned panel = from_a + d * 16 / kPanelRows * A::kPanel * A::kBytes;
        read_matrices_transposed(a[d], panel ^ d * 16 % kPanelRows / 8 * kChunkBytes);
      } else {
        read_matrices(a[d], from_a + d * 16 * A::kBytes);
      }
    }
    const unsigned tile_b = stage + A::kTileBytes;
#pragma unroll
    for (int q = 0; q < T::kAcross; q += 2) {
      const unsigned from = tile_b + static_cast<unsigned>(b_offset<B>(column, q, step, lane));
      unsigned four[4];
      if constexpr (T::kLinesB == Lines::across_k) {
        read_matrices_transposed(four, from);
      } else {
        read_matrices(four, from);
      }
      b[q][0] = four[0], b[q][1] = four[1], b[q + 1][0] = four[2], b[q + 1][1] = four[3];
    }
  }
};

/// Multiplies the operands of one step.
template <class T>
__device__ void multiply_step(typename T::Sum (&sum)[T::kDown][T::kAcross][4],
                              const Fragments<T>& of) {
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
      const int p = d % 2 == 0 ? q : T::kAcross - 1 - q;  // serpentine: b stays at a turn
      multiply_accumulate<typename T::Element>(sum[d][p], of.a[d], of.b[p][0], of.b[p][1]);
    }
  }
}

/// Two neighbouring sums as elements of C.
template <class T>
__device__ void store_pair(unsigned address, typename T::Sum x, typename T::Sum y) {
  if constexpr (sizeof(typename T::Result) == 4) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(static_cast<float>(x)),
                 "f"(static_cast<float>(y))
                 : "memory");
  } else {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(pair_of<typename T::Result>(x, y))
                 : "memory");
  }
}

/// Byte offset at which a chunk of a row of C is staged; rows are swizzled as those of 128 bytes.
template <class T>
__device__ constexpr int staged(int row, int chunk) {
  return row * T::kColumns * T::kResultSize + (chunk ^ (row & 7)) * kChunkBytes;
}

template <class T>
__device__ void store_sums(unsigned shared, const typename T::Sum (&sum)[T::kDown][T::kAcross][4],
                           int row, int column, int lane) {
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kAcross; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int byte = (column + q * 8 + place.column) * T::kResultSize;
        const int to = staged<T>(row + d * 16 + place.row, byte / kChunkBytes) + byte % kChunkBytes;
        store_pair<T>(shared + static_cast<unsigned>(to), sum[d][q][i], sum[d][q][i + 1]);
      }
    }
  }
}

/// Stores 16 bytes of a row of C, of which `columns_left` elements exist. `aligned`: rows of C
/// begin at multiples of 16 bytes.
template <class Result>
__device__ void store_chunk(Result* to, const uint4& chunk, int columns_left, bool aligned) {
  constexpr int kWidth = kChunkBytes / static_cast<int>(sizeof(Result));
  if (aligned && columns_left >= kWidth) {
    *reinterpret_cast<uint4*>(to) = chunk;
    return;
  }
  Result element[kWidth];
  __builtin_memcpy(element, &chunk, sizeof(chunk));
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
    if (e < columns_left) to[e] = element[e];
  }
}
template <class T>
__device__ bool aligned_rows(const typename T::Result* c, const Shape& shape) {
  return (reinterpret_cast<std::uintptr_t>(c) | (shape.row_c * T::kResultSize)) % kChunkBytes == 0;
}

/// Stores the staged tile to C, without rows beyond `shape.m` and columns beyond `shape.n`.
template <class T>
__device__ void store_tile(const unsigned char* shared, typename T::Result* c, const Shape& shape,
                           int row0, int column0, int thread) {
  constexpr int kWidth = kChunkBytes / T::kResultSize, kAcross = T::kColumns / kWidth;
  const bool aligned = aligned_rows<T>(c, shape);
#pragma unroll 4
  for (int i = thread; i < T::kRows * kAcross; i += T::kThreads) {
    const int r = i / kAcross, chunk = i % kAcross;
    const int row = row0 + r, column = column0 + chunk * kWidth;
    if (row >= shape.m || column >= shape.n) continue;
    const uint4 four = *reinterpret_cast<const uint4*>(shared + staged<T>(r, chunk));
    store_chunk(c + row * shape.row_c + column, four, shape.n - column, aligned);
  }
}

/// Adds to the warp's sums of the tile of C at `tile`, over the k-slabs `steps` of kDepth each.
/// `shared`: T::kSharedBytes at a multiple of 1024 bytes; they are free on return.
template <class T>
__device__ void sum_tile(typename T::Sum (&sum)[T::kDown][T::kAcross][4], const Shape& shape,
                         const typename T::Element* __restrict__ a,
                         const typename T::Element* __restrict__ b, Place tile, Range steps,
                         unsigned shared, int thread) {
  using Element = typename T::Element;
  const int lane = thread % 32, warp = thread / 32;
  const int row = T::row_of(warp), column = T::column_of(warp);

  LineCopy<Element, typename T::TileA, T::kThreads, T::kSlices> copy_a(
      a, shape.row_a, T::kTransposedA ? shape.k : shape.m, T::kTransposedA ? shape.m : shape.k,
      T::kTransposedA ? 0 : tile.row, T::kTransposedA ? tile.row : 0, thread);
  LineCopy<Element, typename T::TileB, T::kThreads, T::kSlices> copy_b(
      b, shape.row_b, T::kTransposedB ? shape.n : shape.k, T::kTransposedB ? shape.k : shape.n,
      T::kTransposedB ? tile.column : 0, T::kTransposedB ? 0 : tile.column, thread);
  const auto stage_of = [&](int t) {
    return shared + static_cast<unsigned>(t % T::kStages * T::kStageBytes);
  };
  const auto start = [&](int slice, int t) {
    if (t >= steps.past) return;
    copy_a.start(slice, stage_of(t), t * T::kDepth);
    copy_b.start(slice, stage_of(t) + T::TileA::kTileBytes, t * T::kDepth);
  };
  for (int t = 0; t < T::kStages - 1; ++t) {
#pragma unroll
    for (int slice = 0; slice < T::kSlices; ++slice) start(slice, steps.begin + t);
    commit_copies();  // an empty group too: groups are counted as tiles
  }
  wait_for_copies<T::kStages - 2>();  // the first tile
  __syncthreads();
  Fragments<T> operands[2];  // this step's and the next one's
  operands[0].read(stage_of(steps.begin), 0, row, column, lane);
#pragma unroll 1
  for (int t = steps.begin; t < steps.past; ++t) {
    const int ahead = t + T::kStages - 1;  // its stage is that of tile t - 1, which all have read
#pragma unroll
    for (int step = 0; step < T::kSteps; ++step) {
      if (step == T::kSteps - 1) {
        wait_for_copies<T::kStages - 2>();  // all but the last kStages - 2 groups: tile t + 1
        __syncthreads();                    // tile t + 1 is complete, and all of tile t is read
      }
      operands[(step + 1) % 2].read(stage_of(step == T::kSteps - 1 ? t + 1 : t),
                                    (step + 1) % T::kSteps, row, column, lane);
      if (step < T::kSlices) start(step, ahead);
      if (step == T::kSlices - 1) commit_copies();
      multiply_step<T>(sum, operands[step % 2]);
    }
  }
  wait_for_copies<0>();
  __syncthreads();  // no copy is in flight, and no operand is read any more
}

/// Stores the sums of all warps to the tile of C at `tile`. `dynamic`: as for sum_tile, and free.
template <class T>
__device__ void store_tile_of_sums(const typename T::Sum (&sum)[T::kDown][T::kAcross][4],
                                   const Shape& shape, typename T::Result* __restrict__ c,
                                   Place tile, unsigned char* dynamic, int thread) {
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(dynamic));
  const int warp = thread / 32;
  store_sums<T>(shared, sum, T::row_of(warp), T::column_of(warp), thread % 32);
  __syncthreads();
  store_tile<T>(dynamic, c, shape, tile.row, tile.column, thread);
}

/// Computes this block's tile of C, in the order of grouped_tile. Grid: tiles × matrices, so that
/// the tile's index and its matrix need no division and the compiler knows that they are uniform.
/// `dynamic`: T::kSharedBytes of shared memory at a multiple of 1024 bytes.
template <class T>
__device__ void multiply_tile(const Shape& shape, const typename T::Element* __restrict__ a,
                              const typename T::Element* __restrict__ b,
                              typename T::Result* __restrict__ c, unsigned char* dynamic) {
  const auto thread = static_cast<int>(threadIdx.x), index = static_cast<int>(blockIdx.x);
  const auto matrix = static_cast<std::int64_t>(blockIdx.y);
  a += matrix * shape.matrix_a, b += matrix * shape.matrix_b, c += matrix * shape.matrix_c;
  const Place place = grouped_tile(index, (shape.m + T::kRows - 1) / T::kRows,
                                   (shape.n + T::kColumns - 1) / T::kColumns,
                                   roofcast::gemm::tensor::kMmaGroupRows);
  const Place tile = {place.row * T::kRows, place.column * T::kColumns};
  typename T::Sum sum[T::kDown][T::kAcross][4] = {};
  sum_tile<T>(sum, shape, a, b, tile, {0, (shape.k + T::kDepth - 1) / T::kDepth},
              static_cast<unsigned>(__cvta_generic_to_shared(dynamic)), thread);
  store_tile_of_sums<T>(sum, shape, c, tile, dynamic, thread);
}

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kMinBlocks)
    product_kernel(const __grid_constant__ Shape shape, const typename T::Element* __restrict__ a,
                   const typename T::Element* __restrict__ b, typename T::Result* __restrict__ c) {
  extern __shared__ __align__(1024) unsigned char dynamic[];
  multiply_tile<T>(shape, a, b, c, dynamic);
}

}  // namespace roofcast::cuda::gemm
