#pragma once
// attention.flash3 backward: which tile a block takes, which tiles meet under a causal mask, and
// where the sums of dQ lie. Plain arithmetic, which tests check without a GPU.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::attention::flash3_backward {

/// Rows of the log-sum-exp, of D and of the sums of dQ are padded to this: the longest tile.
inline constexpr int kPaddedQueries = 128;

__host__ __device__ constexpr int tiles_of(int length, int tile) {
  return (length + tile - 1) / tile;
}

struct BlockTile {
  int tile, head;
};
/// What block `block` takes of `tiles` tiles of each head. The heads follow in groups of `together`,
/// whose operands L2 keeps; in a group the blocks go through the heads first, so the first tiles of
/// all its heads come first.
__host__ __device__ constexpr BlockTile block_tile(int block, int tiles, int heads, int together) {
  const int group = block / (tiles * together);
  const int left = heads - group * together;
  const int width = left < together ? left : together;
  const int in_group = block - group * tiles * together;
  return {in_group / width, group * together + in_group % width};
}

/// Query i sees the keys up to i + shift: shift = seq_kv - seq_q, so the last sees all.
/// The first tile of queries that see key `key`.
__host__ __device__ constexpr int first_query_tile(int key, int shift, int queries) {
  return key > shift ? (key - shift) / queries : 0;
}
/// Tiles of keys that queries up to `query` see, of `seq_kv` keys.
__host__ __device__ constexpr int seen_key_tiles(int query, int shift, int seq_kv, int keys) {
  const int seen = query + shift + 1;
  return tiles_of(seen < seq_kv ? seen : seq_kv, keys);
}

/// A tile of dQ is summed where the registers of its warpgroups lie, so that a warp adds 512 bytes
/// at once: group j of four sums of thread t of warpgroup w begins at (w·groups + j)·512 + 4·t. Those
/// are two neighbouring columns of a row, then of the row 8 further down.
///
/// Tiles of 128 queries have 64 in each warpgroup, tiles of 64 half of the columns.
/// Where column 0 of the eight columns `octet` of row `row` lies; column 2·i follows at + 4·i.
__host__ __device__ constexpr int dq_place(int row, int octet, int queries, int head_dim) {
  const int octets = (queries == 128 ? head_dim : head_dim / 2) / 8;  // of a warpgroup
  const int warpgroup = queries == 128 ? row / 64 : octet / octets;
  const int thread = row % 64 / 16 * 32 + row % 8 * 4;
  return (warpgroup * octets + octet % octets) * 512 + thread * 4 + row % 16 / 8 * 2;
}

}  // namespace roofcast::cuda::attention::flash3_backward
