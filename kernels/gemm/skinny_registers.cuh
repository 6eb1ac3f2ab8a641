#pragma once
// gemm.skinny for at most 8 tokens, and for operands that cp.async cannot copy: weights from memory
// to registers (skinny.cu).
#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/gemm/joined_parts.cuh"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/skinny.hpp"

namespace roofcast::cuda::gemm::skinny_kernels {

using roofcast::gemm::tensor::SkinnyTile;

constexpr int kWarps = SkinnyTile::kWarps;
constexpr int kThreads = 32 * kWarps;
constexpr int kLoads = SkinnyTile::kLoads;
constexpr int kBlockK = SkinnyTile::kBlockK;  // 64 bytes of a row

template <class Element_, int kTokens_, bool kAlongK_>
struct RegisterTile {
  using Element = Element_;
  static constexpr int kTokens = kTokens_;
  static constexpr bool kAlongK = kAlongK_;  // a row of weights holds k
  static constexpr int kTokenTiles = kTokens / 8;
  static constexpr SkinnyTile kTile{kTokens, kAlongK, {}};
  static constexpr int kRowTiles = kTile.row_tiles();  // tiles of 16 rows
  static constexpr int kRows = 16 * kRowTiles;
  static constexpr int kBlocks = kTile.blocks_at_once();  // blocks of k that a warp loads at once
  static constexpr int kSharedBytes = kWarps * kRows * kTokens * 4;
};

/// Loads eight elements, of which `left` exist; the others are zeros. kStream: they are read once.
template <bool kAligned, bool kStream, class Element>
__device__ uint4 load_eight(const Element* from, int left) {
  uint4 eight = make_uint4(0, 0, 0, 0);
  if constexpr (kAligned) {
    if (left <= 0) return eight;
    if constexpr (kStream) {
      asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(eight.x), "=r"(eight.y), "=r"(eight.z), "=r"(eight.w)
                   : "l"(from));
    } else {
      eight = __ldg(reinterpret_cast<const uint4*>(from));
    }
  } else {
    Element element[8];
#pragma unroll
    for (int e = 0; e < 8; ++e) element[e] = e < left ? from[e] : Element{};
    __builtin_memcpy(&eight, element, sizeof(eight));
  }
  return eight;
}

__device__ inline unsigned word_of(const uint4& four, int i) {
  return i == 0 ? four.x : (i == 1 ? four.y : (i == 2 ? four.z : four.w));
}

template <class T>
using PartsOfRegisters =
    BlockParts<float, (T::kRows * T::kTokens + kThreads - 1) / kThreads, kThreads>;

/// kParts: blocks have parts of k. An instance of its own: the main loop has no register to spare.
template <class T, bool kAligned, bool kParts>
__global__ void __launch_bounds__(kThreads, T::kTokens <= 16 ? 2 : 1)
    register_kernel(const __grid_constant__ Skinny p,
                    const typename T::Element* __restrict__ weights,
                    const typename T::Element* __restrict__ tokens,
                    typename T::Element* __restrict__ c) {
  using Element = typename T::Element;
  extern __shared__ __align__(16) float partial[];  // [warp][token][row]
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int g = lane / 4, t = lane % 4;
  const int row0 = static_cast<int>(blockIdx.x) * T::kRows;
  // Rows of the matrices before this one. Added to the pointers, they would take registers.
  const int before = static_cast<int>(blockIdx.z);
  const int rows_before = before * (T::kAlongK ? p.rows : p.k), tokens_before = before * p.tokens;
  const Range blocks =
      part_of((p.k + kBlockK - 1) / kBlockK, static_cast<int>(blockIdx.y), p.parts);

  float sum[T::kRowTiles][T::kTokenTiles][4] = {};
  constexpr int kEach = kLoads / T::kBlocks;  // loads of a block of k
  constexpr int kRound = kWarps * T::kBlocks;
  // Where a lane's eight k in block `number` begin, and how many k exist from there on.
  const auto begin_of = [&](int number) { return number * kBlockK + t * 8; };
  const auto left_of = [&](int number) {
    return number < blocks.past ? p.k - begin_of(number) : 0;
  };
  const auto load = [&](uint4(&held)[kLoads], int first) {
#pragma unroll
    for (int block = 0; block < T::kBlocks; ++block) {
      const int k0 = begin_of(first + block * kWarps), left = left_of(first + block * kWarps);
      // Along k a lane's rows are 8 apart; else its rows are its eight k, of eight columns each.
      const int row = row0 + g, column = row0 + g * 8;
      const Element* from = T::kAlongK ? weights + (rows_before + row) * p.row_weights + k0
                                       : weights + (rows_before + k0) * p.row_weights + column;
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const int there =
            T::kAlongK ? (row + i * 8 < p.rows ? left : 0) : (i < left ? p.rows - column : 0);
        held[block * kEach + i] = load_eight<kAligned, true>(from, there);
        from += (T::kAlongK ? 8 : 1) * p.row_weights;
      }
    }
  };
  const auto multiply = [&](const uint4(&held)[kLoads], int first) {
#pragma unroll
    for (int block = 0; block < T::kBlocks; ++block) {
      const int k0 = begin_of(first + block * kWarps), left = left_of(first + block * kWarps);
#pragma unroll
      for (int j = 0; j < T::kTokenTiles; ++j) {
        const int token = j * 8 + g;
        const uint4 eight = load_eight<kAligned, false>(
            tokens + (tokens_before + token) * p.row_tokens + k0, token < p.tokens ? left : 0);
#pragma unroll
        for (int s = 0; s < 2; ++s) {
#pragma unroll
          for (int r = 0; r < T::kRowTiles; ++r) {
            unsigned a[4];
            weights_operand<T::kAlongK>(
                a, [&](int load, int word) { return word_of(held[block * kEach + load], word); }, r,
                s);
            multiply_accumulate<Element>(sum[r][j], a, word_of(eight, 2 * s),
                                         word_of(eight, 2 * s + 1));
          }
        }
      }
    }
  };
  if constexpr (kAligned) {
    uint4 held[2][kLoads];
    load(held[0], blocks.begin + warp);
#pragma unroll 1
    for (int first = blocks.begin + warp; first < blocks.past; first += 2 * kRound) {
      load(held[1], first + kRound);
      multiply(held[0], first);
      load(held[0], first + 2 * kRound);
      multiply(held[1], first + kRound);
    }
  } else {
#pragma unroll 1
    for (int first = blocks.begin + warp; first < blocks.past; first += kRound) {
      uint4 held[kLoads];
      load(held, first);
      multiply(held, first);
    }
  }

#pragma unroll
  for (int r = 0; r < T::kRowTiles; ++r) {
#pragma unroll
    for (int j = 0; j < T::kTokenTiles; ++j) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = skinny_row(lane, r, i, T::kAlongK);
        const int token = j * 8 + sum_place(lane, i).column;
        partial[(warp * T::kTokens + token) * T::kRows + row] = sum[r][j][i];
      }
    }
  }
  __syncthreads();
  constexpr int kSums = T::kRows * T::kTokens, kOfThread = (kSums + kThreads - 1) / kThreads;
  float all[kOfThread] = {};
#pragma unroll
  for (int s = 0; s < kOfThread; ++s) {
    const int i = thread + s * kThreads;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all[s] += i < kSums ? partial[w * kSums + i] : 0;
  }
  if constexpr (kParts) {
    const PartsOfRegisters<T> parts(
        p.workspace, static_cast<std::int64_t>(before) * gridDim.x + blockIdx.x, p.parts);
    const auto part = static_cast<int>(blockIdx.y);
    if (parts.leaves(part)) {
      parts.leave(part, all);
      return;
    }
    parts.join(all);
  }
#pragma unroll
  for (int s = 0; s < kOfThread; ++s) {
    const int i = thread + s * kThreads;
    const int row = row0 + i % T::kRows, token = i / T::kRows;
    if (i >= kSums || row >= p.rows || token >= p.tokens) continue;
    c[before * p.matrix_c + row * p.c_row + token * p.c_token] = narrow<Element>(all[s]);
  }
}

}  // namespace roofcast::cuda::gemm::skinny_kernels
