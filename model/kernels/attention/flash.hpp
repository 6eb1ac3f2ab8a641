#pragma once
// The tiles that this project's attention kernels are compiled for (kernels/attention). The CUDA
// kernels are instantiated from the same tables.
#include <algorithm>
#include <array>
#include <cstdint>

#include "model/counting/integers.hpp"
#include "model/kernels/attention/attention.hpp"

namespace roofcast::attention {

/// attention.flash2 and attention.flash3, after the family's: how backward sums dQ.
enum FlashParameter : std::size_t { kDq = 8 };
enum DqSum : std::int64_t {
  kAtomic,   ///< blocks of keys add their parts in fp32, in any order
  kTwoPass,  ///< blocks of queries compute S and dP once more: the same result each time
};
inline constexpr std::array<std::string_view, 2> kDqNames = {"atomic", "two_pass"};

/// attention.decode, after the family's: parts of the keys, each a block's; 0: to choose.
enum DecodeParameter : std::size_t { kDecodeSplits = 8 };

/// Heads are computed as if they had the next of these dims: kernels are compiled for them.
inline constexpr std::array<std::int64_t, 3> kHeadDims = {64, 128, 256};
/// Position among them, and in the tables of tiles.
constexpr std::size_t head_row(std::int64_t head_dim) {
  return head_dim <= kHeadDims[0] ? 0 : head_dim <= kHeadDims[1] ? 1 : 2;
}
constexpr std::int64_t padded_head(std::int64_t head_dim) {
  return kHeadDims[head_row(head_dim)];
}

/// attention.flash2, forward and the second pass over queries that sums dQ: a block a tile of
/// queries, whose rows its warps share out; keys come step by step.
struct Flash2Tile {
  std::int64_t head_dim;
  std::int64_t queries;
  std::int64_t keys;  ///< of a step
  int warps;
  int held;    ///< matrices of the tile's queries: Q, and dO in backward
  int stages;  ///< of K, and of V
  int blocks;  ///< an SM, for which registers are left

  constexpr std::int64_t threads() const { return std::int64_t{32} * warps; }
  /// Two bytes an element.
  constexpr std::int64_t shared_bytes() const {
    return (held * queries + keys * 2 * stages) * head_dim * 2;
  }
};
/// By head dim.
inline constexpr std::array<Flash2Tile, 3> kFlash2Tiles = {
    {{64, 128, 128, 4, 1, 1, 2}, {128, 128, 64, 4, 1, 1, 2}, {256, 128, 64, 8, 1, 1, 1}}};
inline constexpr std::array<Flash2Tile, 3> kFlash2DqTiles = {
    {{64, 128, 64, 4, 2, 2, 2}, {128, 128, 32, 4, 2, 2, 2}, {256, 64, 32, 4, 2, 2, 1}}};

/// attention.flash2 backward: a block a tile of keys, queries come step by step.
struct Flash2BackwardTile {
  std::int64_t head_dim;
  std::int64_t keys;
  std::int64_t queries;  ///< of a step
  std::int64_t at_once;  ///< queries of a step whose scores the block holds at a time
  int warps_down;        ///< that share out the keys
  int warps_across;      ///< that share out the queries of the scores, and the columns of the sums
  int stages;            ///< of Q, and of dO
  int blocks;            ///< an SM, for which registers are left

  constexpr std::int64_t threads() const { return std::int64_t{32} * warps_down * warps_across; }
  /// K and V, the stages of Q and dO, a log-sum-exp and a row's sum of dO∘O for each query. dS goes
  /// through shared memory for dQ; where warps share out columns, P and dS do.
  constexpr std::int64_t shared_bytes(DqSum sum) const {
    const int exchanged = warps_across > 1 ? 2 : sum == kAtomic ? 1 : 0;
    return (keys + queries * stages) * 2 * head_dim * 2 + queries * stages * 8 +
           exchanged * keys * queries * 2;
  }
};
inline constexpr std::array<Flash2BackwardTile, 3> kFlash2BackwardTiles = {
    {{64, 128, 64, 32, 4, 1, 2, 2}, {128, 128, 64, 64, 8, 1, 2, 1}, {256, 64, 32, 32, 4, 2, 2, 1}}};

/// attention.flash3 forward: warpgroups of 64 queries each hold their sums, one more copies. A
/// block stays on its SM and takes tile after tile.
struct Flash3Tile {
  std::int64_t head_dim;
  std::int64_t queries;
  std::int64_t keys;  ///< of a step
  int stages;         ///< of K, and of V
  int stages_q;       ///< two: the next Q is there before this tile is done

  constexpr std::int64_t warpgroups() const { return queries / 64; }
  constexpr std::int64_t threads() const { return 128 * (warpgroups() + 1); }
  /// Q, K and V, what warpgroups are told, barriers, and room to align them. Two bytes an element.
  constexpr std::int64_t shared_bytes() const {
    return 1024 + (queries * stages_q + keys * 2 * stages) * head_dim * 2 +
           warpgroups() * stages_q * (16 + 2 * 8) + std::int64_t{32} * stages;
  }
};
/// By causal mask, then by head dim: a mask wastes less of square tiles.
inline constexpr std::array<std::array<Flash3Tile, 3>, 2> kFlash3Tiles = {
    {{{{64, 192, 128, 2, 2}, {128, 128, 176, 2, 1}, {256, 128, 80, 2, 1}}},
     {{{64, 192, 128, 2, 2}, {128, 128, 128, 2, 2}, {256, 128, 80, 2, 1}}}}};

/// Heads whose tiles run together, by longest first where a mask makes tiles unequal: as many as
/// leave their K and V in half of the L2 of the GPUs that have wgmma; a head after the other where
/// all tiles are equal.
constexpr std::int64_t heads_together(std::int64_t heads, std::int64_t group,
                                      std::int64_t kv_bytes_of_head, bool causal) {
  constexpr std::int64_t kBytes = std::int64_t{25} << 20;
  if (!causal) return 1;
  const std::int64_t fitting = kBytes / (2 * kv_bytes_of_head);
  const std::int64_t together = (fitting > 1 ? fitting : 1) * group;
  return together < heads ? together : heads;
}

/// Heads that the blocks of flash3 backward work on together: as many as read no more than that
/// again and again, two thirds of an L2 of 50 MB, as other operands pass through it.
constexpr std::int64_t flash3_heads_together(std::int64_t heads, std::int64_t bytes_of_head) {
  constexpr std::int64_t kBytes = std::int64_t{32} << 20;
  return std::clamp(kBytes / bytes_of_head, std::int64_t{1}, heads);
}

/// Rows of the log-sum-exp, of D and of the sums of dQ are padded to this: the longest tile.
inline constexpr std::int64_t kFlash3PaddedQueries = 128;
constexpr std::int64_t padded_queries(std::int64_t seq_q) {
  return ceil_div(seq_q, kFlash3PaddedQueries) * kFlash3PaddedQueries;
}

/// attention.flash3 backward, for dK and dV: a block keeps a tile of K and V, and the queries that
/// see it go by. Two warpgroups hold the sums, one more copies.
struct Flash3BackwardTile {
  std::int64_t head_dim;
  std::int64_t queries;  ///< of a step
  std::int64_t keys;
  int stages;  ///< of Q with the log-sum-exp, and of dO with D

  /// Each warpgroup has the sums of 64 keys. Beyond a head dim of 128 those fill the registers of
  /// both: each takes half of the head dim, and P and dS reach the other through shared memory.
  constexpr bool splits_head() const { return head_dim > 128; }
  static constexpr std::int64_t threads() { return 384; }
  /// K, V, the stages, dS twice (or P, dS and its transpose), barriers, and room to align them.
  constexpr std::int64_t shared_bytes() const {
    return 1024 + 2 * keys * head_dim * 2 + queries * stages * 2 * (head_dim * 2 + 4) +
           (splits_head() ? 3 : 2) * queries * keys * 2 + std::int64_t{32} * stages + 16;
  }
};
inline constexpr std::array<Flash3BackwardTile, 3> kFlash3BackwardTiles = {
    {{64, 128, 128, 2}, {128, 64, 128, 2}, {256, 64, 64, 2}}};

/// The same for dQ where it is summed in a pass of its own: a block keeps a tile of Q and dO, and
/// the keys that it sees go by.
struct Flash3DqTile {
  std::int64_t head_dim;
  std::int64_t queries;  ///< 64 a warpgroup
  std::int64_t keys;     ///< of a step
  int stages;            ///< of K, and of V

  static constexpr std::int64_t threads() { return 384; }
  constexpr std::int64_t shared_bytes() const {
    return 1024 + 2 * queries * head_dim * 2 + keys * stages * 2 * head_dim * 2 +
           std::int64_t{32} * stages + 8;
  }
};
inline constexpr std::array<Flash3DqTile, 3> kFlash3DqTiles = {
    {{64, 128, 128, 2}, {128, 128, 128, 2}, {256, 128, 32, 2}}};

}  // namespace roofcast::attention
