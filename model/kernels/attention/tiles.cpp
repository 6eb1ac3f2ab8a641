#include "model/kernels/attention/tiles.hpp"

#include <algorithm>

#include "model/kernels/attention/serving.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::attention {
namespace {

// Counted, of FlashAttention-2: a multiply-add for scale and maximum, the maximum, the exponential,
// the sum and half of a conversion to a pair; a multiplication to rescale; a comparison and a
// selection.
constexpr Kernel kFlash2 = {Instruction::mma_sync, 4.5, 1, 2};
// With the order of warpgroups, as this project's flash3 (6.3 with the sums at head dim 128).
constexpr Kernel kFlash3 = {Instruction::wgmma, 5.3, 1, 2};
// As of this project's flash2 and flash3.
constexpr double kUnrolled = 4.5, kTwoChains = 2, kOneChain = 1;
// Rescaling and the mask cost more than counted. By hand, 2026-11-22, to
// attention_causal_prefill.csv (the same collection, TensorRT-LLM), rows of even position of compute
// capability 9.0 above 50 µs.
constexpr Kernel kTrtllmWide = {Instruction::wgmma, 6, 5, 5};
constexpr Kernel kTrtllmNarrow = {Instruction::mma_sync, 4.5, 1, 2};

// Backward, counted: a multiply-add and the exponential, a subtraction, a product, half a conversion
// each of P and dS, and half a store of dS; an addition in memory takes one element, or four.
constexpr Kernel kFlash2Backward = {Instruction::mma_sync, 5.5, 1, 2};
constexpr Kernel kFlash3Backward = {Instruction::wgmma, 5.5, 0.25, 2};

// FlashAttention-2, flash_bwd_launch_template.h: eight warps, four by two.
BackwardTile flash2_backward_tile(std::int64_t head) {
  if (head == 64) return {128, 128, 8, 2, 2, 255, 0};
  if (head == 128) return {64, 128, 8, 2, 2, 255, 0};
  return {64, 64, 8, 2, 1, 255, 0};
}

// K and V, the stages of Q and dO, and dS; of fewer keys or stages where an SM has no room.
void set_shared_bytes(BackwardTile& tile, std::int64_t head, const Gpu& gpu) {
  const auto bytes = [&] {
    return (2 * (tile.keys + tile.stages * tile.queries) * head + tile.queries * tile.keys) * 2;
  };
  const auto fits = [&] {
    return !gpu.occupancy || bytes() <= gpu.occupancy->shared_bytes_per_block;
  };
  constexpr std::int64_t kFewKeys = 64;
  if (!fits()) tile.keys = std::min(tile.keys, kFewKeys);
  if (!fits()) tile.stages = 1;
  tile.shared_bytes = bytes();
}

// FlashAttention-3, hopper/flash_bwd_launch_template.h: two warpgroups and one that copies.
BackwardTile flash3_backward_tile(std::int64_t head, bool causal) {
  if (head == 64) return {128, 128, 12, 1, 2, 168, 0};
  if (head == 128) return {causal ? 64 : 80, 128, 12, 1, 2, 168, 0};
  return {64, 80, 12, 1, 1, 168, 0};
}

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
Tile trtllm_tile(std::int64_t head, std::int64_t rows, bool wide) {
  if (!wide) return {64, 64, 4, 16, 1, head == 256 ? 1 : 3};
  // A warpgroup without rows does nothing.
  const std::int64_t queries = rows <= 64 && head < 256 ? 64 : 128;
  if (head == 64) return {queries, 256, 12, 64, 2, 1, true};
  if (head == 128) return {queries, 128, 12, 64, 2, 1, true};
  return {queries, 64, 12, 64, 2, 1, true};
}

// Of few queries, keys dealt out to the warps.
Tile decode_tile(std::int64_t rows) {
  // As in serving::group_tile.
  constexpr double kDependentLoads = 5;
  const std::int64_t queries = rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  Tile tile{queries, 256, 8, queries, 1, 1};
  tile.dependent_loads = kDependentLoads;
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

std::int64_t packed_heads(Library library, const Kernel& kernel, const Shape& shape, bool lengths,
                          const Gpu& gpu) {
  const std::int64_t group = shape.group();
  // Prefill packs none.
  if (library == kTrtllm) return serving::takes_groups(shape, gpu) ? group : 1;
  // FlashAttention-3 (hopper/heuristics.h) packs where tiles are under 0.9 as full otherwise, and
  // where it does not know the lengths.
  if (library == kFa3 && lengths) return group;
  constexpr double kAsFull = 0.9;
  const auto fullness = [&](std::int64_t packed) {
    const std::int64_t rows = shape.seq_q * packed;
    const std::int64_t queries = tile_of(library, kernel, shape, packed, gpu).queries;
    return as_double(rows) / as_double(ceil_div(rows, queries) * queries);
  };
  return fullness(1) < kAsFull * fullness(group) ? group : 1;
}

Tile tile_of(Library library, const Kernel& kernel, const Shape& shape, std::int64_t packed,
             const Gpu& gpu) {
  const std::int64_t head = padded_head(shape.head_dim);
  const std::int64_t rows = shape.seq_q * packed;
  const bool wide = kernel.wide();
  if (library == kTrtllm && serving::decodes(shape)) {
    return packed > 1 ? serving::group_tile(shape) : serving::vector_tile(shape, gpu);
  }
  if (decodes(shape, rows)) return decode_tile(64);
  if (library == kTrtllm) return trtllm_tile(head, rows, wide);  // one chain
  Tile tile = wide ? wide_tile(head, shape.causal) : flash2_tile(head);
  tile.chains = wide ? kTwoChains : kUnrolled;
  // By the excess of short sequences in attention-libraries of 2026-11-22.
  if (wide && library != kFa3) tile.alternates = true;
  return tile;
}

Backward library_backward(Library library, const Shape& shape, const Gpu& gpu) {
  if (library == kTrtllm) {
    throw InputError("TensorRT-LLM has no backward: choose cudnn, fa2 or fa3");
  }
  const Kernel forward = kernel_of(library, gpu);
  Backward backward{.shape = shape,
                    .kernel = forward.wide() ? kFlash3Backward : kFlash2Backward,
                    .keys = {},
                    .rows = {shape.seq_q, shape.head_dim, ceil_div(shape.head_dim, 8)}};
  backward.kernel.product = forward.product;
  const std::int64_t head = padded_head(shape.head_dim);
  BackwardTile& tile = backward.keys;
  tile = forward.wide() ? flash3_backward_tile(head, shape.causal) : flash2_backward_tile(head);
  if (!forward.wide()) tile.chains = kUnrolled;
  tile.together = heads_together(shape.batch * shape.kv_heads, 1,
                                 shape.group() * shape.seq_q * shape.head_dim * 2, shape.causal);
  if (forward.wide()) {
    constexpr std::int64_t kSharedFrom = 128, kCudnnKeys = 64;
    tile.chains = head > kSharedFrom ? kOneChain : kTwoChains;
    // A guess, by the same table.
    if (library != kFa3 && head > kSharedFrom) tile.keys = kCudnnKeys;
  }
  set_shared_bytes(tile, head, gpu);
  return backward;
}

}  // namespace roofcast::attention
