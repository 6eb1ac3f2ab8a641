#pragma once
// C[m,n] = A[m,k] · B on the tensor cores, as this project's kernels compute it (kernels/gemm):
// their parameters, and how they see a product. The CUDA kernels are compiled from the same.
#include <array>
#include <cstdint>
#include <string>

#include "model/kernels/gemm/tensor_tiles.hpp"

namespace roofcast::gemm::tensor {

/// Positions in Problem after kTileK.
enum Parameter : std::size_t {
  kTransposedB = kTileK + 1,  ///< 1: B is [n,k]
  kTransposedA,               ///< 1: A is [k,m]
  kBatch,                     ///< products of that size, one operand after the other
  kLda,                       ///< leading dimensions: elements from row to row; 0: rows are dense
  kLdb,
  kLdc,
  kSplitK,     ///< parts of k that different blocks sum
  kCluster,    ///< blocks that share a tile of B by multicast, of A where tiles are turned
  kSplitRest,  ///< parts of k of the tiles of the last round, where it is not full
};

inline constexpr std::int64_t kStepBytes = 32;  ///< of k, that one instruction multiplies

/// What C takes: sums of fp8 products are stored in bf16, those of int8 products in fp32.
constexpr DType result_type(DType type) {
  if (type == DType::int8) return DType::fp32;
  return type == DType::fp8 ? DType::bf16 : type;
}

/// A row-major matrix of elements as it is stored, `row` elements from row to row; the next one of
/// a batch follows its last row.
struct Stored {
  std::int64_t rows, columns, row;

  constexpr std::int64_t elements() const { return rows * row; }
};
constexpr Stored stored(std::int64_t rows, std::int64_t columns, std::int64_t leading_dimension) {
  return {rows, columns, leading_dimension == 0 ? columns : leading_dimension};
}
constexpr Stored stored_a(const Problem& p) {
  return p[kTransposedA] != 0 ? stored(p[kK], p[kM], p[kLda]) : stored(p[kM], p[kK], p[kLda]);
}
constexpr Stored stored_b(const Problem& p) {
  return p[kTransposedB] != 0 ? stored(p[kN], p[kK], p[kLdb]) : stored(p[kK], p[kN], p[kLdb]);
}
constexpr Stored stored_c(const Problem& p) {
  return stored(p[kM], p[kN], p[kLdc]);
}
/// Empty if every row has room for what it holds, else what to do.
inline std::string overlapping_rows(const Problem& p) {
  const std::array<Stored, 3> matrices = {stored_a(p), stored_b(p), stored_c(p)};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (matrices[i].row >= matrices[i].columns) continue;
    return std::string("ld") + "abc"[i] + " is " + std::to_string(matrices[i].row) +
           " and a row holds " + std::to_string(matrices[i].columns) +
           " elements: give at least as many, or 0 for dense rows";
  }
  return {};
}

/// Empty if int32 holds every sum of int8 products, else why not.
inline std::string overflowing_sums(const Problem& p) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) / (std::int64_t{128} * 128) - 1;
  if (p.dtype != DType::int8 || p[kK] <= kMost) return {};
  return "the int32 sums of int8 products hold a k of at most " + std::to_string(kMost);
}

/// Tile rows that the blocks of gemm.mma_sync visit before the next tile column.
inline constexpr std::int64_t kMmaGroupRows = 8;
/// The same of gemm.wgmma, whose `blocks` stay: about 16, in whole rounds of blocks, since a group
/// that ends within a round has the next one read A again. `beside`: tiles along the other side.
constexpr std::int64_t wgmma_group(std::int64_t beside, std::int64_t blocks) {
  constexpr std::int64_t kTiles = 16;
  const std::int64_t rounds = (2 * kTiles * beside + blocks) / (2 * blocks);  // to the nearest
  if (rounds == 0) return kTiles;
  const std::int64_t tiles = rounds * blocks / beside;
  return tiles > 0 ? tiles : 1;
}

/// Whether gemm.wgmma visits tiles along an instruction's columns first. Blocks go down C first and
/// so read the same columns of B (777x15360x5120 in turned tiles of 144x128: 186 us, across first
/// 270 us); clusters of turned tiles, which share A's, go across (900x28672x4096 in 160x128: 324
/// us, down first 383 us; kernel_bench, 132 SMs).
constexpr bool columns_first(bool turned, std::int64_t cluster) {
  return turned && cluster == 1;
}

/// Vectors of four sums that a thread of gemm.wgmma loads at once where it adds parts of k: of
/// `count`, its own, at most 16, and 8 beside more than 128 sums.
constexpr int joined_together(int count) {
  const int most = count > 32 ? 8 : 16;
  int together = 1;
  for (int i = 2; i <= most; ++i) together = count % i == 0 ? i : together;
  return together;
}

/// How gemm.skinny sees a product: rows of weights times tokens.
namespace skinny {
/// Whether B holds the weights: the rows of A are few. Else A does.
constexpr bool weights_in_b(const Problem& p) {
  return p[kM] <= kMostTokens;
}
constexpr std::int64_t tokens_of(const Problem& p) {
  return weights_in_b(p) ? p[kM] : p[kN];
}
constexpr std::int64_t rows_of(const Problem& p) {
  return weights_in_b(p) ? p[kN] : p[kM];
}
/// Whether a row of weights holds k, once A stored by rows of k is transposed.
constexpr bool along_k(const Problem& p) {
  return !weights_in_b(p) || p[kTransposedB] != 0;
}
/// Few columns of B stored by rows of k: the loads of a lane take neighbouring k of a token, so
/// without a ring they are transposed first.
constexpr bool transposes(const Problem& p) {
  return !weights_in_b(p) && p[kTransposedB] == 0;
}
/// Rows of weights of the tiles that gemm.wgmma multiplies where the GPU has wgmma, of 64 tokens
/// and as many k: its 64x128 where B holds the weights, and its 64x64 for both.
inline constexpr std::array<std::int64_t, 2> kWgmmaRows = {64, 128};
constexpr bool of_wgmma(const Problem& p) {
  return p[kTileM] == kMostTokens && p[kTileK] == kTileLineBytes / 2 &&
         (p[kTileN] == kWgmmaRows[0] || (p[kTileN] == kWgmmaRows[1] && weights_in_b(p)));
}
/// As gemm.wgmma's product, which splits k of the tiles of a last round, where SMs idle.
constexpr Problem as_wgmma(Problem p) {
  p[kCluster] = 1;
  p[kSplitRest] = p[kSplitK];
  if (p[kSplitK] != kToChoose) p[kSplitK] = 1;
  return p;
}
}  // namespace skinny

/// Blocks and threads of what runs before and after a product (kernels/gemm/passes.cu).
namespace passes {
inline constexpr std::int64_t kThreads = 256;
inline constexpr std::int64_t kRowsEach = 4;  ///< of a thread that copies: its loads in flight
inline constexpr std::int64_t kSquare = 32;   ///< of the transpose
/// Elements of a row of a copy: rows begin at multiples of 128 bytes.
constexpr std::int64_t padded_row(std::int64_t columns, std::int64_t size) {
  const std::int64_t line = kTileLineBytes / size;
  return (columns + line - 1) / line * line;
}
}  // namespace passes

}  // namespace roofcast::gemm::tensor
