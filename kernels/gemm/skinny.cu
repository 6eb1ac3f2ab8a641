// Few rows or columns (m or n ≤ 64): the decode step of a language model.
//
// One operand is large, the weights, and each of its elements takes part in at most 64 products: at
// 2 bytes an element that is 64 FLOP a byte, a third of what an H200 needs to be bound by its
// tensor cores. So the weights are read once, at the copy rate, and nothing else may cost time:
//
// 1. Weights go from memory to registers, 16 bytes a lane, 8 loads at once: 4 KB a warp, 64 KB on an
//    SM with 16 warps, where Little's law asks 22 KB (4.8 TB/s · 600 ns / 132). Up to 32 tokens the
//    next 8 are under way while these are multiplied. They pass L1 by: nobody reads them again.
// 2. mma.sync with the weights as its 16 rows and the tokens (the few rows or columns) as its 8
//    columns: one instruction for 8 tokens, so 64 tokens cost 8 instructions for 512 bytes.
// 3. No shared memory and no ldmatrix on the way. A sum over k may take k in any order, so a lane's
//    16 bytes serve as they come: eight neighbouring k of a row of weights and the same eight of a
//    token are the lane's operands of two instructions (weights_operand in layout.cuh). Tokens come from
//    L1: all blocks read the same, and the blocks of an SM share them.
// 4. Weights stored by rows of k ([k,n]): a lane loads eight k of eight neighbouring columns and
//    pairs the k with byte permutations: 16 for 8 loads, beside 8 instructions or more.
// 5. The 8 warps of a block take the blocks of 32 k in turn, so together they read 512 neighbouring
//    bytes of each row; their sums are added in shared memory. Where that gives fewer blocks than
//    SMs, parts of k go to different blocks (split_k) and a second kernel adds them, in order.
//
// Bytes from DRAM: the weights once. From L2: the weights once, and the tokens once a block.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/operands.hpp"
#include "kernels/gemm/passes.hpp"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm {
namespace {

using roofcast::gemm::tensor::kSkinnyTiles;
using roofcast::gemm::tensor::SkinnyTile;
using roofcast::gemm::tensor::Stored;
using roofcast::gemm::tensor::stored_a;
using roofcast::gemm::tensor::stored_b;
using roofcast::gemm::tensor::skinny::along_k;
using roofcast::gemm::tensor::skinny::tokens_of;
using roofcast::gemm::tensor::skinny::transposes;
using roofcast::gemm::tensor::skinny::weights_in_b;

constexpr int kWarps = SkinnyTile::kWarps;
constexpr int kThreads = 32 * kWarps;
constexpr int kLoads = SkinnyTile::kLoads;
constexpr int kBlockK = SkinnyTile::kBlockK;  // 64 bytes of a row

/// The product as the kernel sees it: sums[row][token] over the rows of the weights.
struct Skinny {
  int rows, tokens, k;
  std::int64_t row_weights, row_tokens;  ///< elements from row to row
  std::int64_t c_row, c_token;           ///< elements of C from row to row, from token to token
  int parts;                             ///< of k
  float* sums;                           ///< of parts, each as large as C, dense; null for one part
  std::int64_t sums_row, sums_token;
  int matrices;           ///< of a batch, one below the other
  std::int64_t matrix_c;  ///< elements of C from one to the next

  /// Whether eight elements of k or of columns are all there, at multiples of 16 bytes, or none.
  constexpr bool whole_vectors(bool along_k) const {
    return row_weights % 8 == 0 && row_tokens % 8 == 0 && k % 8 == 0 && (along_k || rows % 8 == 0);
  }
};

template <class Element_, int kTokens_, bool kAlongK_>
struct Tile {
  using Element = Element_;
  static constexpr int kTokens = kTokens_;
  static constexpr bool kAlongK = kAlongK_;  // a row of weights holds k
  static constexpr int kTokenTiles = kTokens / 8;
  static constexpr SkinnyTile kTile{kTokens, kAlongK, {}};
  static constexpr int kRowTiles = kTile.row_tiles();  // of 16
  static constexpr int kRows = 16 * kRowTiles;
  static constexpr int kBlocks = kTile.blocks_at_once();  // of k
  static constexpr bool kPrefetches = kTile.prefetches();
  static constexpr int kSharedBytes = kWarps * kRows * kTokens * 4;
};

/// Eight elements from `from`, of which `left` exist; zeros otherwise. kStream: they are read once.
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

__device__ unsigned word_of(const uint4& four, int i) {
  return i == 0 ? four.x : (i == 1 ? four.y : (i == 2 ? four.z : four.w));
}

template <class T, bool kAligned>
__global__ void __launch_bounds__(kThreads, T::kTokens <= 16 ? 2 : 1)
    skinny_kernel(const __grid_constant__ Skinny p, const typename T::Element* __restrict__ weights,
                  const typename T::Element* __restrict__ tokens,
                  typename T::Element* __restrict__ c) {
  using Element = typename T::Element;
  extern __shared__ __align__(16) float partial[];  // [warp][token][row]
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32, warp = thread / 32;
  const int g = lane / 4, t = lane % 4;
  const int row0 = static_cast<int>(blockIdx.x) * T::kRows;
  // Rows of the matrices before this one. Added to them, the pointers would take registers.
  const int before = static_cast<int>(blockIdx.z);
  const int rows_before = before * (T::kAlongK ? p.rows : p.k), tokens_before = before * p.tokens;
  const Range blocks =
      part_of((p.k + kBlockK - 1) / kBlockK, static_cast<int>(blockIdx.y), p.parts);

  float sum[T::kRowTiles][T::kTokenTiles][4] = {};
  constexpr int kEach = kLoads / T::kBlocks;  // loads of a block of k
  constexpr int kRound = kWarps * T::kBlocks;
  // What of a lane's eight k exists in block `number`, and where they begin.
  const auto begin_of = [&](int number) { return number * kBlockK + t * 8; };
  const auto left_of = [&](int number) {
    return number < blocks.past ? p.k - begin_of(number) : 0;
  };
  const auto load = [&](uint4(&held)[kLoads], int first) {
#pragma unroll
    for (int block = 0; block < T::kBlocks; ++block) {
      const int k0 = begin_of(first + block * kWarps), left = left_of(first + block * kWarps);
      // Along k a lane's rows are 8 apart; else they are its k, of eight columns.
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
  if constexpr (T::kPrefetches && kAligned) {
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
  for (int i = thread; i < T::kRows * T::kTokens; i += kThreads) {
    const int row = row0 + i % T::kRows, token = i / T::kRows;
    if (row >= p.rows || token >= p.tokens) continue;
    float all = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) all += partial[w * T::kTokens * T::kRows + i];
    if (p.sums == nullptr) {
      c[before * p.matrix_c + row * p.c_row + token * p.c_token] = narrow<Element>(all);
    } else {
      const std::int64_t part = std::int64_t{blockIdx.y} * p.matrices + before;
      p.sums[part * p.rows * p.tokens + row * p.sums_row + token * p.sums_token] = all;
    }
  }
}

struct CompiledTile {
  Problem configuration;
  Launch (*launch)(const Skinny&, bool aligned);
  void (*run)(const Skinny&, const void* weights, const void* tokens, void* c, cudaStream_t);
};

template <class T>
Launch launch_of(const Skinny& p, bool aligned) {
  const auto kernel = aligned ? skinny_kernel<T, true> : skinny_kernel<T, false>;
  return {reinterpret_cast<const void*>(kernel),
          dim3(static_cast<unsigned>(ceil_div(p.rows, T::kRows)), static_cast<unsigned>(p.parts),
               static_cast<unsigned>(p.matrices)),
          dim3(kThreads), T::kSharedBytes};
}

template <class T>
void run_tile(const Skinny& p, const void* weights, const void* tokens, void* c,
              cudaStream_t stream) {
  using Element = typename T::Element;
  const bool aligned =
      p.whole_vectors(T::kAlongK) && multiple_of(16, weights, 0) && multiple_of(16, tokens, 0);
  const auto kernel = aligned ? skinny_kernel<T, true> : skinny_kernel<T, false>;
  const Launch launch = launch_of<T>(p, aligned);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::kSharedBytes));
  kernel<<<launch.grid, launch.block, launch.shared_bytes, stream>>>(
      p, static_cast<const Element*>(weights), static_cast<const Element*>(tokens),
      static_cast<Element*>(c));
  check(cudaGetLastError());
}

template <class Element, DType kType, std::size_t kRow>
constexpr CompiledTile compiled() {
  constexpr SkinnyTile tile = kSkinnyTiles[kRow];
  using T = Tile<Element, static_cast<int>(tile.tokens), tile.along_k>;
  static_assert(T::kRows == tile.rows() && T::kSharedBytes == tile.shared_bytes());
  return {tensor_configuration(kType, tile.tokens, tile.rows(), kBlockK, tile.along_k, 1),
          launch_of<T>, run_tile<T>};
}
template <class Element, DType kType>
constexpr auto compiled_table() {
  return compiled_rows<kSkinnyTiles>(
      [](auto row) { return compiled<Element, kType, decltype(row)::value>(); });
}
constexpr auto kCompiled =
    joined(compiled_table<__nv_bfloat16, DType::bf16>(), compiled_table<__half, DType::fp16>());
constexpr auto kConfigurations = configurations_of(kCompiled);

/// The problem with kTransposedB saying how the weights are stored.
Problem by_weights(const Problem& p) {
  return with_layout(p, along_k(p));
}
const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(kCompiled, by_weights(p));
}

constexpr int kElement = 2;  // bytes

/// An operand, by its position among the inputs: as it is stored, and as the kernel reads it.
struct Operand {
  Stored from, read;
  bool transposed;  ///< first, to rows of k
};
Operand operand_of(const Problem& p, std::size_t input) {
  const Stored from = input == 0 ? stored_a(p) : stored_b(p);
  const bool turned = input == 0 ? p[kTransposedA] != 0 : transposes(p);
  if (!turned) return {from, from, false};
  return {from, {from.columns, from.rows, padded_row(from.rows, kElement)}, true};
}
MatrixView view_of(const Problem& p, const Stored& from, const void* data) {
  return {data,
          from.row,
          static_cast<int>(from.rows),
          static_cast<int>(from.columns),
          kElement,
          static_cast<int>(p[kBatch])};
}

Skinny skinny_of(const Problem& p) {
  const Shape s = shape_of(p);
  const Stored a = operand_of(p, 0).read, b = operand_of(p, 1).read;
  const auto parts = static_cast<int>(p[kSplitK]);
  if (weights_in_b(p)) {
    return {s.n,   s.m,     s.k, b.row, a.row,      1,         s.row_c,
            parts, nullptr, 1,   s.n,   s.matrices, s.matrix_c};
  }
  return {s.m, s.n, s.k, a.row, b.row, s.row_c, 1, parts, nullptr, s.n, 1, s.matrices, s.matrix_c};
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  if (p.dtype != DType::bf16 && p.dtype != DType::fp16) {
    return "gemm.skinny runs in bf16 and fp16, not " + std::string(name(p.dtype));
  }
  if (tokens_of(p) > p[kTileM]) {
    return "gemm.skinny takes at most tile_m rows of A or columns of B: " +
           std::to_string(p[kTileM]) + " of at most 64; asked for m = " + std::to_string(p[kM]) +
           ", n = " + std::to_string(p[kN]);
  }
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.skinny", by_weights(p), kConfigurations);
  const std::int64_t blocks = ceil_div(p[kK], kBlockK);
  if (p[kSplitK] < 1 || p[kSplitK] > blocks || p[kSplitK] > kMostBlocksYZ) {
    return "split_k must be from 1 to the blocks of 32 k: " + std::to_string(blocks);
  }
  return fits_device(tile->launch(skinny_of(p), true));
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  for (const std::size_t input : {0U, 1U}) {
    const Operand one = operand_of(p, input);
    if (!one.transposed) continue;
    all.scratch.push_back({p.dtype, static_cast<std::size_t>(p[kBatch] * one.read.elements())});
  }
  if (p[kSplitK] > 1) {
    all.scratch.push_back(
        {DType::fp32, static_cast<std::size_t>(p[kSplitK] * p[kBatch] * p[kM] * p[kN])});
  }
  return all;
}

void run_problem(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape s = shape_of(p);
  Skinny skinny = skinny_of(p);
  std::array<const void*, 2> read = {at.inputs[0], at.inputs[1]};
  std::size_t next_scratch = 0;
  for (const std::size_t input : {0U, 1U}) {
    const Operand one = operand_of(p, input);
    if (!one.transposed) continue;
    void* const to = at.scratch[next_scratch++];
    copy_transposed(view_of(p, one.from, read[input]), to, one.read.row, stream);
    read[input] = to;
  }
  if (skinny.parts > 1) skinny.sums = static_cast<float*>(at.scratch[next_scratch]);
  const std::size_t weights = weights_in_b(p) ? 1 : 0;
  find_compiled(p)->run(skinny, read[weights], read[1 - weights], at.outputs[0], stream);
  if (skinny.parts > 1) {
    sum_parts(skinny.sums, skinny.parts, s.rows_c(), s.n, at.outputs[0], s.row_c, p.dtype, stream);
  }
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s = shape_of(p);
  std::vector<Launch> all;
  for (const std::size_t input : {0U, 1U}) {
    const Operand one = operand_of(p, input);
    if (one.transposed) all.push_back(copy_transposed_launch(view_of(p, one.from, nullptr)));
  }
  const Skinny skinny = skinny_of(p);
  all.push_back(find_compiled(p)->launch(skinny, skinny.whole_vectors(along_k(p))));
  if (skinny.parts > 1) all.push_back(sum_parts_launch(s.rows_c(), s.n, p.dtype));
  return all;
}

}  // namespace

KernelEntry skinny() {
  return tensor_entry("gemm.skinny", kConfigurations, unsupported, with_scratch, launches,
                      run_problem);
}

}  // namespace roofcast::cuda::gemm
