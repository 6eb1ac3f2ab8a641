#pragma once
// Shared by gemm.skinny's two kernels (skinny.cu says why there are two) and their launches. A file
// for each type instantiates them, so that nvcc compiles them in parallel.
#include <cuda_runtime.h>

#include <cstdint>
#include <span>

#include "kernels/gemm/joined_parts.hpp"
#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::gemm::skinny_kernels {

/// The product as the kernel sees it: sums[row][token] over the rows of the weights.
struct Skinny {
  int rows, tokens, k;
  std::int64_t row_weights, row_tokens;  ///< elements from row to row
  std::int64_t c_row, c_token;           ///< elements of C from row to row, from token to token
  int parts;                             ///< parts of k
  int matrices;                          ///< GEMMs of a batch, one below the other
  std::int64_t matrix_c;                 ///< elements from one C to the next
  bool tokens_across;                    ///< tokens are stored by rows of k
  Workspace workspace{};                 ///< for the sums of parts of k

  /// Whether all rows begin at multiples of 16 bytes if the first ones do.
  constexpr bool whole_rows() const { return row_weights % 8 == 0 && row_tokens % 8 == 0; }
  /// Whether, in addition, a vector of eight elements of k or of columns exists whole or not at
  /// all.
  constexpr bool whole_vectors(bool along_k) const {
    return whole_rows() && k % 8 == 0 && (along_k || rows % 8 == 0);
  }
};

/// The operands as they are read, and C.
struct Memory {
  const void *weights, *tokens;
  void* c;
};

struct CompiledTile {
  Problem configuration;
  /// Whether the ring kernel runs the tile: it needs no more than rows at multiples of 16 bytes,
  /// and takes tokens stored by rows of k.
  bool of_ring;
  Launch (*launch)(const Skinny&, bool aligned);
  WorkspaceSize (*workspace)(const Skinny&, bool aligned);
  void (*run)(const Skinny&, const Memory&, bool aligned, cudaStream_t);
};

std::span<const CompiledTile> bf16_tiles();
std::span<const CompiledTile> fp16_tiles();

}  // namespace roofcast::cuda::gemm::skinny_kernels
