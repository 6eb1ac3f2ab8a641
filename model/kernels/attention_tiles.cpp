#include "model/kernels/attention_tiles.hpp"

#include "model/counting/integers.hpp"

namespace roofcast::attention {
namespace {

bool has_wide_products(const Gpu& gpu) {
  return gpu.features.has(Instruction::wgmma) || gpu.features.has(Instruction::tcgen05);
}

// Counted, of FlashAttention-2: a multiply-add for scale and maximum, the maximum, the exponential,
// the sum and half of a conversion to a pair; a multiplication to rescale; a comparison and a
// selection.
constexpr Kernel kFlash2 = {Instruction::mma_sync, 4.5, 1, 2};
// Two instructions a score more than counted, which stand for copies from pages and the order of
// warpgroups. By hand, 2026-11-22, to attention_fa3_causal_prefill.csv (ai-dynamo/aiconfigurator,
// context_attention_perf of vllm 0.24.0), rows of compute capability 9.0 above 20 µs.
constexpr Kernel kFlash3 = {Instruction::wgmma, 6.5, 1, 2};
// Rescaling and the mask cost more than counted. By hand, 2026-11-22, to
// attention_causal_prefill.csv (the same collection, TensorRT-LLM), rows of compute capability 9.0
// above 50 µs.
constexpr Kernel kTrtllmWide = {Instruction::wgmma, 4.5, 6.5, 5};
constexpr Kernel kTrtllmNarrow = {Instruction::mma_sync, 4.5, 1, 2};

// FlashAttention-3, hopper/tile_size.h: two or three warpgroups of 64 rows each, and one that copies.
Tile wide_tile(std::int64_t head, bool causal) {
  if (head == 64) return {192, causal ? 128 : 192, 16, 64, 2, 1};
  if (head == 128) return {128, causal ? 128 : 176, 12, 64, 2, 1};
  return {128, 80, 12, 64, 2, 1};
}

// FlashAttention-2, flash_fwd_launch_template.h.
Tile flash2_tile(std::int64_t head) {
  if (head == 64) return {128, 128, 4, 32, 1, 2};
  if (head == 128) return {128, 64, 4, 32, 1, 2};
  return {128, 64, 8, 16, 1, 1};
}

// TensorRT-LLM: two warpgroups of 64 rows and one that copies; without wgmma four warps of 16 rows.
// Three blocks an SM there by hand, 2026-11-22, to the rows of compute capability 8.0.
Tile trtllm_tile(std::int64_t head, bool wide) {
  if (!wide) return {64, 64, 4, 16, 1, head == 256 ? 1 : 3};
  if (head == 64) return {128, 256, 12, 64, 2, 1, true};
  if (head == 128) return {128, 128, 12, 64, 2, 1, true};
  return {128, 64, 12, 64, 2, 1, true};
}

// Of few queries, keys dealt out to the warps, which find K and V by way of lengths and pages.
Tile decode_tile(std::int64_t rows) {
  // By hand, 2026-11-22, to attention_decode.csv: groups of 2 to 12 heads, up to 64 keys.
  constexpr double kDependentLoads = 5;
  const std::int64_t queries = rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  Tile tile{queries, 256, 8, queries, 1, 1};
  tile.dependent_loads = kDependentLoads;
  return tile;
}

// TensorRT-LLM's masked multi-head attention: a block one query, no tensor cores.
Tile vector_tile() {
  Tile tile{1, 64, 4, 1, 2, 3};
  tile.products = false;
  tile.dependent_loads =
      10;  // by hand, 2026-11-22, to attention_decode.csv: lone heads, to 64 keys
  return tile;
}

bool decodes(const Shape& shape, std::int64_t rows) {
  constexpr std::int64_t kFewRows = 64;
  return rows <= kFewRows && shape.seq_q < shape.seq_kv;
}

}  // namespace

Kernel kernel_of(Library library, const Gpu& gpu) {
  const bool wide = has_wide_products(gpu);
  const auto on_this = [&](Kernel kernel) {
    if (!gpu.features.has(Instruction::wgmma)) kernel.product = Instruction::tcgen05;
    return kernel;
  };
  switch (library) {
    case kFa2:
      return kFlash2;
    case kFa3:
      return kFlash3;
    case kTrtllm:
      return wide ? on_this(kTrtllmWide) : kTrtllmNarrow;
    default:
      return wide ? on_this(kFlash3) : kFlash2;
  }
}

std::int64_t packed_heads(Library library, const Kernel& kernel, const Shape& shape) {
  const std::int64_t group = shape.group();
  if (library == kTrtllm) {
    // Prefill packs none; its decoding kernel takes groups of 2 to 32 heads, by the times in
    // attention_decode.csv: another group costs as many blocks as heads.
    constexpr std::int64_t kLargestGroup = 32;
    return shape.seq_q < shape.seq_kv && group <= kLargestGroup ? group : 1;
  }
  // FlashAttention-3 (hopper/heuristics.h) packs where tiles are under 0.9 as full otherwise.
  constexpr double kAsFull = 0.9;
  const auto fullness = [&](std::int64_t packed) {
    const std::int64_t rows = shape.seq_q * packed;
    const std::int64_t queries = tile_of(library, kernel, shape, packed).queries;
    return as_double(rows) / as_double(ceil_div(rows, queries) * queries);
  };
  return fullness(1) < kAsFull * fullness(group) ? group : 1;
}

Tile tile_of(Library library, const Kernel& kernel, const Shape& shape, std::int64_t packed) {
  const std::int64_t head = padded_head(shape.head_dim);
  const std::int64_t rows = shape.seq_q * packed;
  const bool wide = kernel.wide();
  if (decodes(shape, rows)) {
    if (library == kTrtllm && packed == 1 && rows == 1) return vector_tile();
    return decode_tile(library == kTrtllm ? rows : 64);
  }
  if (library == kTrtllm) return trtllm_tile(head, wide);
  return wide ? wide_tile(head, shape.causal) : flash2_tile(head);
}

}  // namespace roofcast::attention
