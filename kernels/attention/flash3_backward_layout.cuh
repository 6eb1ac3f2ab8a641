#pragma once
// attention.flash3 backward: which tile a block takes, which keys queries see under a mask, and
// where the sums of dQ lie. Plain arithmetic, which tests check without a GPU.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/gemm/layout.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::flash3_backward {

inline constexpr int kPaddedQueries = static_cast<int>(roofcast::attention::kFlash3PaddedQueries);

__host__ __device__ constexpr int tiles_of(int length, int tile) {
  return (length + tile - 1) / tile;
}

struct BlockTile {
  int tile, head;
};
/// The tile and head that block `block` takes, where each head has `tiles` tiles. Heads go in
/// groups of `together`, whose operands L2 keeps; in a group neighbouring blocks have different
/// heads, so the first tiles of all its heads come first.
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
/// Number of tiles of keys that queries up to `query` see.
__host__ __device__ constexpr int seen_key_tiles(int query, int shift, int seq_kv, int keys) {
  const int seen = query + shift + 1;
  return tiles_of(seen < seq_kv ? seen : seq_kv, keys);
}

/// A descriptor from its lower half. Operands of wgmma differ in the lower half alone
/// (gemm::descriptor), so kernels compute with that half: one register, no carry.
__host__ __device__ constexpr std::uint64_t whole_descriptor(unsigned lower) {
  return gemm::descriptor(0, 0, 8 * gemm::kPanelBytes) | lower;
}
/// Lower half of the descriptor of an operand whose lines hold k.
__host__ __device__ constexpr unsigned along_k(unsigned address) {
  return static_cast<unsigned>(gemm::descriptor(address, gemm::kChunkBytes, 8 * gemm::kPanelBytes));
}
/// Lower half of the descriptor of an operand whose lines hold its columns, k going down; `panel`
/// bytes from 64 columns to the next.
__host__ __device__ constexpr unsigned across_k(unsigned address, int panel) {
  return static_cast<unsigned>(gemm::descriptor(address, panel, 8 * gemm::kPanelBytes));
}
/// Offset of step `step` of 16 k, in units of descriptors. step_along: lines hold k, in panels of
/// kLines lines. step_down: lines hold columns, k going down.
template <int kLines>
__host__ __device__ constexpr unsigned step_along(int step) {
  constexpr int kPanelSteps = gemm::kPanelBytes / gemm::kStepBytes;
  return static_cast<std::uint64_t>(
      (step / kPanelSteps * kLines * gemm::kPanelBytes + step % kPanelSteps * gemm::kStepBytes) /
      gemm::kChunkBytes);
}
__host__ __device__ constexpr unsigned step_down(int step) {
  return static_cast<unsigned>(step * 16 * gemm::kPanelBytes / gemm::kChunkBytes);
}

/// A warp has 16 keys of Sᵀ as rows and the queries as columns. Byte offset at which a lane's
/// stmatrix.x4 stores 16 of these queries, from `query` on: not transposed, in a panel with a line
/// per key.
__host__ __device__ constexpr int place_by_key(int warp, int lane, int query) {
  const gemm::LineChunk at = gemm::sum_address(lane);
  return gemm::swizzled<gemm::kPanelBytes>(warp * 16 + at.line, query / 8 + at.chunk);
}
/// The same transposed, in a panel with a line per query: 16 queries further is 16 lines further.
__host__ __device__ constexpr int place_by_query(int warp, int lane, int query) {
  const gemm::LineChunk at = gemm::b_address(lane);
  return gemm::swizzled<gemm::kPanelBytes>(query + at.line, warp * 2 + at.chunk);
}

/// A tile of dQ is summed in the order of its warpgroups' registers, so that a warp adds 512 bytes
/// at once: group j of four sums of thread t of warpgroup w begins at (w·groups + j)·512 + 4·t. The
/// four sums are two neighbouring columns of a row, then of the row 8 further down.
///
/// A warpgroup has 64 of 128 queries, or half of the columns of 64 queries. The result is the place
/// of column 0 of the eight columns `octet` of row `row`; column 2·i lies at + 4·i.
__host__ __device__ constexpr int dq_place(int row, int octet, int queries, int head_dim) {
  const int octets = (queries == 128 ? head_dim : head_dim / 2) / 8;  // columns of a warpgroup ÷ 8
  const int warpgroup = queries == 128 ? row / 64 : octet / octets;
  const int thread = row % 64 / 16 * 32 + row % 8 * 4;
  return (warpgroup * octets + octet % octets) * 512 + thread * 4 + row % 16 / 8 * 2;
}

}  // namespace roofcast::cuda::attention::flash3_backward
