#pragma once
// The tiles that this project's attention kernels (kernels/attention) are instantiated from.
#include <algorithm>
#include <array>

#include "model/kernels/attention/attention.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::attention {

/// Head dims that kernels are compiled for. A head is padded to the next of them.
inline constexpr std::array<std::int64_t, 3> kHeadDims = {64, 128, 256};
/// Index of the padded head dim in kHeadDims and in the tables of tiles.
constexpr std::size_t head_row(std::int64_t head_dim) {
  return head_dim <= kHeadDims[0] ? 0 : head_dim <= kHeadDims[1] ? 1 : 2;
}
constexpr std::int64_t padded_head(std::int64_t head_dim) {
  return kHeadDims[head_row(head_dim)];
}

/// attention.flash2, forward and the second pass of backward, which sums dQ. A block keeps a tile
/// of queries, whose rows are divided among its warps, and streams K and V.
struct Flash2Tile {
  std::int64_t head_dim;
  std::int64_t queries;
  std::int64_t keys;  ///< per step
  int warps;
  int held;    ///< matrices of the queries' tile: Q, and dO in backward
  int stages;  ///< buffers of K, and of V
  int blocks;  ///< resident per SM (__launch_bounds__)

  constexpr std::int64_t threads() const { return std::int64_t{32} * warps; }
  /// Two bytes per element.
  constexpr std::int64_t shared_bytes() const {
    return (held * queries + keys * 2 * stages) * head_dim * 2;
  }
};
/// By head dim.
inline constexpr std::array<Flash2Tile, 3> kFlash2Tiles = {
    {{64, 128, 128, 4, 1, 1, 2}, {128, 128, 64, 4, 1, 1, 2}, {256, 128, 64, 8, 1, 1, 1}}};
inline constexpr std::array<Flash2Tile, 3> kFlash2DqTiles = {
    {{64, 128, 64, 4, 2, 2, 2}, {128, 128, 32, 4, 2, 2, 2}, {256, 64, 32, 4, 2, 2, 1}}};

/// attention.flash2 backward: a block keeps a tile of keys and streams queries.
struct Flash2BackwardTile {
  std::int64_t head_dim;
  std::int64_t keys;
  std::int64_t queries;  ///< per step
  std::int64_t at_once;  ///< queries of a step whose scores are held at a time
  int warps_down;        ///< warps along the keys
  int warps_across;  ///< warps along the queries of the scores, and along the columns of the sums
  int stages;        ///< buffers of Q, and of dO
  int blocks;        ///< resident per SM (__launch_bounds__)

  constexpr std::int64_t threads() const { return std::int64_t{32} * warps_down * warps_across; }
  /// K and V, stages of Q and dO, log-sum-exp and D; dS for dQ; P and dS with several warps across.
  constexpr std::int64_t shared_bytes(DqSum sum) const {
    const int exchanged = warps_across > 1 ? 2 : sum == kAtomic ? 1 : 0;
    return (keys + queries * stages) * 2 * head_dim * 2 + queries * stages * 8 +
           exchanged * keys * queries * 2;
  }
};
inline constexpr std::array<Flash2BackwardTile, 3> kFlash2BackwardTiles = {
    {{64, 128, 64, 32, 4, 1, 2, 2}, {128, 128, 64, 64, 8, 1, 2, 1}, {256, 64, 32, 32, 4, 2, 2, 1}}};

/// attention.flash3 forward: consumer warpgroups of 64 queries hold O, a producer warpgroup copies.
struct Flash3Tile {
  std::int64_t head_dim;
  std::int64_t queries;
  std::int64_t keys;  ///< per step
  int stages;         ///< buffers of K, and of V
  int stages_q;       ///< buffers of Q; two: the next Q is loaded during the current tile

  constexpr std::int64_t warpgroups() const { return queries / 64; }
  constexpr std::int64_t threads() const { return 128 * (warpgroups() + 1); }
  /// Q, K and V at two bytes per element, tile descriptors for the warpgroups, barriers, alignment.
  constexpr std::int64_t shared_bytes() const {
    return 1024 + (queries * stages_q + keys * 2 * stages) * head_dim * 2 +
           warpgroups() * stages_q * (16 + 2 * 8) + std::int64_t{32} * stages;
  }
};
/// Indexed by causal mask, then by head dim. A causal mask wastes less of a square tile.
inline constexpr std::array<std::array<Flash3Tile, 3>, 2> kFlash3Tiles = {
    {{{{64, 192, 128, 2, 2}, {128, 128, 176, 2, 1}, {256, 128, 80, 2, 1}}},
     {{{64, 192, 128, 2, 2}, {128, 128, 128, 2, 2}, {256, 128, 80, 2, 1}}}}};

/// Heads whose tiles run concurrently under a causal mask: the most whose two matrices of
/// `kv_bytes_of_head` each fit half the L2 of the GPUs with wgmma. Without a mask all tiles are
/// equal, and one head follows another.
constexpr std::int64_t heads_together(std::int64_t heads, std::int64_t group,
                                      std::int64_t kv_bytes_of_head, bool causal) {
  constexpr std::int64_t kBytes = std::int64_t{25} << 20;
  if (!causal) return 1;
  return std::min(heads, group * std::max<std::int64_t>(1, kBytes / (2 * kv_bytes_of_head)));
}

/// Heads that the blocks of flash3 backward work on concurrently: the most that re-read up to
/// kBytes, two thirds of an L2 of 50 MB, since other operands pass through it too.
constexpr std::int64_t flash3_heads_together(std::int64_t heads, std::int64_t bytes_of_head) {
  constexpr std::int64_t kBytes = std::int64_t{32} << 20;
  return std::clamp(kBytes / bytes_of_head, std::int64_t{1}, heads);
}

/// The log-sum-exp, D and the sums of dQ are padded to a multiple of this, the longest tile.
inline constexpr std::int64_t kFlash3PaddedQueries = 128;
constexpr std::int64_t padded_queries(std::int64_t seq_q) {
  return round_up(seq_q, kFlash3PaddedQueries);
}

/// attention.flash3 backward, dK and dV: a block keeps a tile of K and V and streams queries. Two
/// consumer warpgroups hold the sums, a producer warpgroup copies.
struct Flash3BackwardTile {
  std::int64_t head_dim;
  std::int64_t queries;  ///< per step
  std::int64_t keys;
  int stages;  ///< buffers of Q with the log-sum-exp, and of dO with D

  /// A warpgroup has the sums of 64 keys. Beyond a head dim of 128 these fill the registers of both
  /// warpgroups: each takes half of the head dim, and they exchange P and dS through shared memory.
  constexpr bool splits_head() const { return head_dim > 128; }
  static constexpr std::int64_t threads() { return 384; }
  /// K, V, the stages, dS twice (or P, dS and its transpose), barriers, alignment.
  constexpr std::int64_t shared_bytes() const {
    return 1024 + 2 * keys * head_dim * 2 + queries * stages * 2 * (head_dim * 2 + 4) +
           (splits_head() ? 3 : 2) * queries * keys * 2 + std::int64_t{32} * stages + 16;
  }
};
inline constexpr std::array<Flash3BackwardTile, 3> kFlash3BackwardTiles = {
    {{64, 128, 128, 2}, {128, 64, 128, 2}, {256, 64, 64, 2}}};

/// attention.flash3 backward, dQ in a separate pass: a block keeps Q and dO and streams keys.
struct Flash3DqTile {
  std::int64_t head_dim;
  std::int64_t queries;  ///< 64 per warpgroup
  std::int64_t keys;     ///< per step
  int stages;            ///< buffers of K, and of V

  static constexpr std::int64_t threads() { return 384; }
  constexpr std::int64_t shared_bytes() const {
    return 1024 + 2 * queries * head_dim * 2 + keys * stages * 2 * head_dim * 2 +
           std::int64_t{32} * stages + 8;
  }
};
inline constexpr std::array<Flash3DqTile, 3> kFlash3DqTiles = {
    {{64, 128, 128, 2}, {128, 128, 128, 2}, {256, 128, 32, 2}}};

namespace decoding {

/// Most queries per head of K and V, over all its query heads: the rows of a matrix instruction.
inline constexpr std::int64_t kMostRows = 16;
inline constexpr std::int64_t kUnitKeys = 16;  ///< keys of a unit; warps take units in turn
inline constexpr std::int64_t kMostSplits = 4096;

/// A block takes one part of the keys of one head of K and V.
struct Tile {
  std::int64_t head_dim;
  std::int64_t warps;
  std::int64_t stages;  ///< units of K, and of V, that a warp has in flight
  int blocks;           ///< resident per SM (__launch_bounds__)

  constexpr std::int64_t threads() const { return 32 * warps; }
  /// Bytes of a warp's stage: kUnitKeys rows of K and of V, two bytes an element.
  constexpr std::int64_t stage_bytes() const { return 2 * kUnitKeys * head_dim * 2; }
  /// Dynamic: the stages, and Q.
  constexpr std::int64_t shared_bytes() const {
    return warps * stages * stage_bytes() + kMostRows * head_dim * 2;
  }
  /// Static: the maximum and the sum of each row of each warp.
  constexpr std::int64_t static_shared_bytes() const { return warps * kMostRows * 8; }
};
/// By head dim, as kHeadDims.
inline constexpr std::array<Tile, 3> kTiles = {{{64, 4, 6, 2}, {128, 4, 3, 2}, {256, 4, 3, 1}}};

/// Warps of a block that adds the parts of a row; they take parts in turn.
inline constexpr std::int64_t kCombineWarps = 8;
inline constexpr std::int64_t kCombineSharedBytes = kCombineWarps * kHeadDims.back() * 4;

}  // namespace decoding

/// attention.standard: batched matrix products, and passes over rows of scores between them.
namespace standard {

/// Tiles for mma.sync as in gemm.mma_sync, one block each. The queries of all heads that share K
/// and V are the rows of one matrix, so a batch has batch × kv_heads matrices.
inline constexpr std::array kTiles = {gemm::tensor::MmaTile{128, 128, 64, 2, 2, 4, 2},
                                      gemm::tensor::MmaTile{128, 64, 64, 2, 2, 4, 3}};
/// Index in kTiles, by the columns of the result.
constexpr std::size_t tile_of(std::int64_t columns) {
  return columns > kTiles[1].n ? 0 : 1;
}

/// Pitch of a row of scores in elements: rows begin at multiples of 128 bytes.
constexpr std::int64_t row_of(std::int64_t seq_kv) {
  return gemm::tensor::passes::padded_row(seq_kv, 2);
}

/// Launch of a pass over rows: `threads` per row, `rows` per block.
struct RowLayout {
  std::int64_t threads, rows;
};
inline constexpr std::int64_t kHeldVectors = 4;  ///< 16-byte vectors of a row per thread
inline constexpr std::int64_t kRowThreads = 1024;
/// Longest row held in registers. A longer row is read twice, the second time from L1 or L2.
inline constexpr std::int64_t kHeldKeys = kRowThreads * kHeldVectors * kVectorElements;

constexpr RowLayout row_layout(std::int64_t seq_kv) {
  constexpr std::int64_t kBlockThreads = 256;  // of a block of several short rows
  const std::int64_t threads =
      std::clamp(power_of_two_from(ceil_div(seq_kv, kHeldVectors * kVectorElements)),
                 std::int64_t{32}, kRowThreads);
  return {threads, threads < kBlockThreads ? kBlockThreads / threads : 1};
}

}  // namespace standard

}  // namespace roofcast::attention
