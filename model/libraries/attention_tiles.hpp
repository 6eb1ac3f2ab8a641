#pragma once
// The kernels that each library chooses: instruction, tile, splits of the keys.
#include "model/kernels/attention/blocks.hpp"
#include "model/libraries/attention.hpp"

namespace roofcast::attention {

Kernel kernel_of(Library library, const Gpu& gpu);

inline Library library_of(const Problem& p) {
  return static_cast<Library>(p[kLibraryChoice]);
}

/// The library's forward kernel. Open splits follow the library's own rule.
Blocks library_forward(const Problem& problem, const Gpu& gpu);

/// The library's backward kernels. Throws InputError if it has none.
Backward library_backward(const Problem& problem, const Gpu& gpu);

// --- serving: a paged cache, and TensorRT-LLM's decode step (attention_serving.cpp) ---

/// One query per sequence against its cache.
constexpr bool decodes(const Shape& shape) {
  return shape.seq_q == 1 && shape.seq_kv > 1;
}

/// Largest group of query heads decoded together (decoderXQAImplJIT.cpp: supportConfigHMMA).
inline constexpr std::int64_t kLargestGroup = 32;

/// Dependent loads of a decoding block before its first tile: sequence length, then pages.
inline constexpr double kDependentLoads = 3;

/// Sets the tile and key splits of such a step by the library's public rules
/// (cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention). Heads of a group are decoded
/// together on tensor cores (XQA), a lone head on SIMT pipes (MMHA). The last block reduces the
/// splits.
void set_decoding(Blocks& forward, const Gpu& gpu);

/// AccessPattern::read_density of a group's cache: rows longer than two lines are read in pieces.
double group_read_density(const Shape& shape);

/// The launch that rotates Q and K and writes K and V to the cache.
Plan rotated_rows(const Blocks& forward, const Gpu& gpu);

/// The launch that writes K and V to the cache, one block per token (vLLM, csrc/cache_kernels.cu:
/// reshape_and_cache_flash).
Plan cache_writes(const Shape& shape);

}  // namespace roofcast::attention
