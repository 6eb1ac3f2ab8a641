#pragma once
// Tiles of the libraries' attention kernels, by the padded head dim.
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/kernels/attention/blocks.hpp"
#include "model/libraries/attention.hpp"

namespace roofcast::attention {

Kernel kernel_of(Library library, const Gpu& gpu);

/// Elements that a row of tiles has room for: FlashAttention has a kernel for each.
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

/// What a library runs. Where splits are left to choose they follow the library's own rule.
Forward library_forward(Library library, const Problem& problem, const Gpu& gpu);

/// Whether vLLM lets FlashAttention-3 split keys in pages beyond its heuristic: where a step has
/// few tokens (v1/attention/backends/flash_attn.py).
constexpr bool may_split(const Shape& shape) {
  constexpr std::int64_t kFewTokens = 512;
  return shape.batch * shape.seq_q <= kFewTokens;
}

/// What that library's backward does. Throws InputError where it has none.
Backward library_backward(Library library, const Shape& shape, const Gpu& gpu);

/// How TensorRT-LLM decodes: one query a sequence against its cache. The rules by which it shares
/// out the work are public (cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention).
namespace serving {

bool decodes(const Shape& shape);

inline constexpr std::int64_t kLargestGroup = 32;  ///< whose heads are decoded together

/// Whether the heads of a group are decoded together, on the tensor cores (XQA); else each head is
/// a block's, by vector arithmetic (MMHA).
bool takes_groups(const Shape& shape);

Tile group_tile(const Shape& shape);
Tile vector_tile(const Shape& shape, const Gpu& gpu);

/// AccessPattern::read_density of a group's cache: rows of more than two lines do not come whole.
double group_read_density(const Shape& shape);

/// Whether the rotated queries go to a place of their own, beside K and V in the cache; else all
/// stay where they are (attention_backend/trtllm.py: use_paged_context_fmha).
bool moves_queries(const Forward& forward);

/// The launch that rotates Q and K and writes K and V to the cache.
Plan rotated_rows(const Forward& forward, const Gpu& gpu);

/// The launch that writes K and V to the cache, a block a token (vLLM, csrc/cache_kernels.cu:
/// reshape_and_cache_flash).
Plan cache_writes(const Shape& shape);

/// Parts of the keys, each a block's. The last block of a head to end adds them.
std::int64_t splits(const Shape& shape, const Gpu& gpu);

}  // namespace serving
}  // namespace roofcast::attention
