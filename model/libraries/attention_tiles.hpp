#pragma once
// Tiles of the libraries' attention kernels, by the padded head dim.
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/kernels/attention/blocks.hpp"
#include "model/libraries/attention.hpp"

namespace roofcast::attention {

Kernel kernel_of(Library library, const Gpu& gpu);

/// Padded head dim: elements of a row in the tiles. FlashAttention has a kernel for each.
std::int64_t library_width(Library library, std::int64_t head_dim);

/// The tile for heads of up to `width` elements.
struct LibraryTile {
  std::int64_t width;
  std::int64_t queries, keys, warps, stages, blocks_per_sm;
};
template <std::size_t N>
Tile tile_in(const std::array<LibraryTile, N>& tiles, std::int64_t width) {
  std::size_t i = 0;
  while (tiles[i].width < width) ++i;
  return {tiles[i].queries, tiles[i].keys, tiles[i].warps, tiles[i].stages, tiles[i].blocks_per_sm};
}

/// The library's forward kernel. Splits left to choose follow the library's own rule.
Forward library_forward(Library library, const Problem& problem, const Gpu& gpu);

/// Whether vLLM lets FlashAttention-3 split a paged cache further than its heuristic: in steps of
/// few tokens (v1/attention/backends/flash_attn.py).
constexpr bool may_split(const Shape& shape) {
  constexpr std::int64_t kFewTokens = 512;
  return shape.batch * shape.seq_q <= kFewTokens;
}

/// The library's backward kernels. Throws InputError where it has none.
Backward library_backward(Library library, const Shape& shape, const Gpu& gpu);

/// TensorRT-LLM's decode step: one query per sequence against its cache. The rules by which it
/// divides the work are public (cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention).
namespace serving {

bool decodes(const Shape& shape);

inline constexpr std::int64_t kLargestGroup = 32;  ///< most query heads that takes_groups allows

/// Whether the heads of a group are decoded together, on the tensor cores (XQA); else each head has
/// blocks of its own, by vector arithmetic (MMHA).
bool takes_groups(const Shape& shape);

Tile group_tile(const Shape& shape);
Tile vector_tile(const Shape& shape, const Gpu& gpu);

/// AccessPattern::read_density of a group's cache: rows of over two lines are read in pieces.
double group_read_density(const Shape& shape);

/// Whether the rotated queries go to a buffer of their own, and attention reads K and V from the
/// cache; else attention reads all three where they were (attention_backend/trtllm.py:
/// use_paged_context_fmha).
bool moves_queries(const Forward& forward);

/// The launch that rotates Q and K and writes K and V to the cache.
Plan rotated_rows(const Forward& forward, const Gpu& gpu);

/// The launch that writes K and V to the cache, one block per token (vLLM, csrc/cache_kernels.cu:
/// reshape_and_cache_flash).
Plan cache_writes(const Shape& shape);

/// Parts of the keys, one block each. The last block of a head to end adds them.
std::int64_t splits(const Shape& shape, const Gpu& gpu);

}  // namespace serving
}  // namespace roofcast::attention
