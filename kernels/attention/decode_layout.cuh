#pragma once
// attention.decode: which 16 bytes of Q, K and V a lane holds, and which element of S and O each of
// its sums is. Plain arithmetic, which tests/kernels/attention_layout_test.cpp holds against the
// fragments of mma.m16n8k16 in the PTX ISA.
//
// A sum may take its terms in any order, so the order of d and of the keys in an instruction is
// chosen such that a lane's operands are whole chunks of 16 bytes of one row. Those chunks lie in
// half lines of K and in several rows of V, so lanes copy whole lines for each other.
#include <cuda_runtime.h>

#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::attention::decoding {

using gemm::Place;

inline constexpr int kKeys = 16;   ///< keys of a unit
inline constexpr int kWidth = 8;   ///< elements of a chunk
inline constexpr int kSlice = 64;  ///< columns of V that eight chunks of a key cover

/// S = Q·Kᵀ takes d in slices of 32, two instructions each.
__host__ __device__ constexpr int d_slices(int dim) {
  return dim / 32;
}
/// Place of the lane's chunk of Q in slice `c`: in rows 0-7 or 8-15 (`half`).
__host__ __device__ constexpr Place q_chunk(int lane, int c, int half) {
  return {half * 8 + lane / 4, c * 32 + lane % 4 * kWidth};
}
/// Place of the lane's chunk of K in slice `c`: in keys 0-7 or 8-15 of the unit (`tile`).
__host__ __device__ constexpr Place k_chunk(int lane, int c, int tile) {
  return {tile * 8 + lane / 4, c * 32 + lane % 4 * kWidth};
}
/// Rows that a warp copies at once, a chunk a lane.
__host__ __device__ constexpr int rows_at_once(int dim) {
  return 32 * kWidth / dim;
}
/// Chunk i of a lane when a unit is copied: a warp copies whole lines, one row after the other.
template <int kDim>
__host__ __device__ constexpr Place copied_chunk(int lane, int i) {
  constexpr int kOfRow = kDim / kWidth;
  return {i * rows_at_once(kDim) + lane / kOfRow, lane % kOfRow * kWidth};
}
/// Byte offset of a chunk of K in its unit: rows one after the other. Odd rows have the halves of
/// their lines exchanged, so the eight lanes that read two rows at once have no bank conflict.
template <int kDim>
__host__ __device__ constexpr int k_offset(Place chunk) {
  return chunk.row * kDim * 2 + ((chunk.column / kWidth) ^ (chunk.row % 2 * 4)) * 16;
}
/// Place of the lane's chunk of V in slice `j` of kSlice columns, for the four keys (`e`) whose
/// weights the lane holds.
__host__ __device__ constexpr Place v_chunk(int lane, int j, int e) {
  return {e / 2 * 8 + lane % 4 * 2 + e % 2, j * kSlice + lane / 4 * kWidth};
}
/// Byte offset of a chunk of V in its unit: the 32 chunks that a warp reads at once lie together,
/// swizzled so that neither the eight lanes that read at once nor the eight that copy a line have a
/// bank conflict.
__host__ __device__ constexpr int v_offset(Place chunk) {
  const int j = chunk.column / kSlice, c = chunk.column % kSlice / kWidth;
  const int e = chunk.row / 8 * 2 + chunk.row % 2, quad = chunk.row % 8 / 2;
  return (j * 4 + e) * 512 + (quad * 8 + (c ^ (quad * 2))) * 16;
}

/// Operand A of instruction `i` of a slice of d: words of Q's chunks of both halves.
template <class Chunk>
__host__ __device__ constexpr void q_operand(unsigned (&a)[4], const Chunk& upper,
                                             const Chunk& lower, int i) {
  a[0] = i == 0 ? upper.x : upper.z;
  a[1] = i == 0 ? lower.x : lower.z;
  a[2] = i == 0 ? upper.y : upper.w;
  a[3] = i == 0 ? lower.y : lower.w;
}
/// Operand B of the same instruction: words of K's chunk.
template <class Chunk>
__host__ __device__ constexpr void k_operand(unsigned (&b)[2], const Chunk& chunk, int i) {
  b[0] = i == 0 ? chunk.x : chunk.z;
  b[1] = i == 0 ? chunk.y : chunk.w;
}
template <class Chunk>
__host__ __device__ constexpr unsigned word_of(const Chunk& chunk, int i) {
  return i == 0 ? chunk.x : i == 1 ? chunk.y : i == 2 ? chunk.z : chunk.w;
}
/// The low or the high halves of two words, that of `first` in the low half.
__host__ __device__ constexpr unsigned halves(unsigned first, unsigned second, int high) {
#ifdef __CUDA_ARCH__
  return __byte_perm(first, second, high == 0 ? 0x5410 : 0x7632);
#else
  return high == 0 ? (first & 0xffff) | second << 16 : first >> 16 | (second & 0xffff0000);
#endif
}
/// Operand B of column tile `c` (0 … 7) of a slice of V, from the chunks of the four keys.
template <class Chunk>
__host__ __device__ constexpr void v_operand(unsigned (&b)[2], const Chunk (&key)[4], int c) {
  b[0] = halves(word_of(key[0], c / 2), word_of(key[1], c / 2), c % 2);
  b[1] = halves(word_of(key[2], c / 2), word_of(key[3], c / 2), c % 2);
}

/// Row and key of sum i of S's tile of eight keys.
__host__ __device__ constexpr Place s_place(int lane, int tile, int i) {
  const Place place = gemm::sum_place(lane, i);
  return {place.row, tile * 8 + place.column};
}
/// Row and column of sum i of O's column tile `c` of slice `j`.
__host__ __device__ constexpr Place o_place(int lane, int j, int c, int i) {
  const Place place = gemm::sum_place(lane, i);
  return {place.row, j * kSlice + place.column * kWidth + c};
}

}  // namespace roofcast::cuda::attention::decoding
