#include "model/libraries/attention_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/constants/libraries.hpp"

namespace roofcast::attention {
namespace {

/// Tiles for head dimensions of at most 64, 128 and 256.
using Tiles = std::array<Tile, kHeadDims.size()>;

// FlashAttention-2, flash_fwd_launch_template.h: the split-KV kernel.
constexpr Tiles kFa2SplitTiles = {{{64, 256, 4, 1, 2}, {64, 128, 4, 1, 2}, {64, 64, 4, 1, 2}}};
// FlashAttention-3, hopper/tile_size.h: two or three warpgroups of 64 rows and a producer.
constexpr Tiles kFa3Tiles = {{{192, 192, 16, 2, 1}, {128, 176, 12, 2, 1}, {128, 80, 12, 2, 1}}};
constexpr Tiles kFa3CausalTiles = {
    {{192, 128, 16, 2, 1}, {128, 128, 12, 2, 1}, {128, 80, 12, 2, 1}}};
// cuDNN, likewise. Decoding by mma.sync: a tile has the queries of a group, four warps its keys.
constexpr Tiles kCudnnTiles = {{{128, 128, 12, 3, 1}, {128, 128, 12, 3, 1}, {128, 64, 12, 2, 1}}};
constexpr Tiles kCudnnDecodeTiles = {{{16, 128, 4, 1, 4}, {16, 128, 4, 1, 2}, {16, 128, 4, 1, 2}}};
// With tensor memory: two warpgroups of 128 rows, as in FlashAttention-4
// (together.ai/blog/flashattention-4), of 64 if O of two tiles would fill the tensor memory.
constexpr Tiles kTensorMemoryTiles = {
    {{256, 128, 12, 3, 1}, {256, 128, 12, 3, 1}, {128, 64, 12, 2, 1}}};
// TensorRT-LLM: two warpgroups of 64 rows and a producer. Without wgmma, also in cuDNN, four warps
// of 16 rows; three blocks per SM, fitted by hand at compute capability 8.0.
constexpr Tiles kTrtllmTiles = {{{128, 256, 12, 2, 1}, {128, 128, 12, 2, 1}, {128, 64, 12, 2, 1}}};
constexpr Tiles kNarrowTiles = {{{64, 64, 4, 1, 3}, {64, 64, 4, 1, 3}, {64, 64, 4, 1, 1}}};

// FlashAttention-2, flash_bwd_launch_template.h: eight warps, four by two.
constexpr Tiles kFa2BackwardTiles = {{{128, 128, 8, 2, 1}, {64, 128, 8, 2, 1}, {64, 64, 8, 1, 1}}};
// FlashAttention-3, hopper/flash_bwd_launch_template.h, causal: two warpgroups and a producer.
constexpr Tiles kFa3BackwardTiles = {
    {{128, 128, 12, 2, 1}, {64, 128, 12, 2, 1}, {64, 80, 12, 1, 1}}};
// cuDNN: 64 queries per step from its kernels' names, 128 keys from grids that leave SMs idle.
constexpr Tiles kCudnnBackwardTiles = {
    {{64, 128, 12, 2, 1}, {64, 128, 12, 2, 1}, {64, 64, 12, 1, 1}}};

// Padded row width in the tiles (elements). FlashAttention has one kernel per width.
std::int64_t padded_width(Library library, std::int64_t head_dim) {
  constexpr std::array<std::int64_t, 6> kWidths = {32, 64, 96, 128, 192, 256};
  if (library == kTrtllm || library == kCudnn) return padded_head(head_dim);
  return *std::lower_bound(kWidths.begin(), kWidths.end(), head_dim);
}

// FlashAttention's split count (flash_api.cpp, hopper/heuristics.h: num_splits_heuristic): the
// fewest splits whose wave efficiency is near the best. `each_shortens`: counts that do not shorten
// the longest part are skipped, as FlashAttention-2 does.
std::int64_t flash_splits(std::int64_t blocks, std::int64_t places, std::int64_t steps,
                          bool each_shortens) {
  constexpr double kEnough = 0.8, kNearly = 0.85;
  if (as_double(blocks) >= kEnough * as_double(places)) return 1;
  const std::int64_t most = std::min({kMostSplits, places, steps});
  const auto efficiency = [&](std::int64_t parts) {
    const bool skips =
        each_shortens && parts > 1 && ceil_div(steps, parts) == ceil_div(steps, parts - 1);
    const double waves = as_double(blocks * parts) / as_double(places);
    return skips ? 0 : waves / std::ceil(waves);
  };
  double best = 0;
  for (std::int64_t parts = 1; parts <= most; ++parts) best = std::max(best, efficiency(parts));
  std::int64_t parts = 1;
  while (parts < most && efficiency(parts) < kNearly * best) ++parts;
  return parts;
}

// flash_fwd_launch_template.h, run_mha_fwd_hdim32 to run_mha_fwd_hdim256: FlashAttention-2's kernel
// without splits.
Tile flash2_tile(const Blocks& c, const Gpu& gpu) {
  constexpr Tile kLarge{128, 64, 8, 1, 1}, kSmall{64, 64, 4, 1, 2};
  if (c.width <= 64) return {128, 128, 4, 1, 2};
  if (c.width <= 128) {
    const ComputeCapability cc = gpu.compute_capability.value_or(ComputeCapability{});
    const bool is_sm8x = cc.major == 8 && cc.minor > 0;
    if (is_sm8x && c.shape.causal) return kSmall;
    if (is_sm8x && c.width == 128) return {128, 32, 4, 1, 2};
    return {128, 64, 4, 1, 2};
  }
  if (c.width <= 192 || !gpu.occupancy) return kLarge;
  const std::int64_t large_bytes = 2 * c.width * (128 + 2 * 64);
  const std::int64_t two_small_bytes = 4 * c.width * (64 + 2 * 64);
  const bool one_large = gpu.occupancy->shared_bytes_per_block >= large_bytes &&
                         gpu.occupancy->shared_bytes_per_sm < two_small_bytes;
  return one_large ? kLarge : kSmall;
}

// The instructions of FlashAttention-2 as compiled. `fills`: for lengths and a head dim that fill
// the tiles.
void set_flash2_instructions(Blocks& c, bool fills) {
  // Elements of O from which a thread spills registers; masks then take more instructions.
  constexpr double kFullOfO = 128, kSpills = 2.5;
  const double threads = as_double(32 * c.tile.warps);
  const double scores = as_double(c.tile.queries * c.tile.keys) / threads;
  const double outputs = as_double(c.tile.queries * c.width) / threads;
  const double masks = (fills ? 1 : 2) * (outputs < kFullOfO ? 1 : kSpills);
  c.kernel.instructions_a_score =
      library::kFlash2ScoreInstructions + library::kFlash2StepInstructions / scores;
  c.kernel.instructions_a_mask = masks * library::kFlash2MaskInstructions;
  c.tile.block_instructions =
      as_double(c.tile.warps) *
      (library::kFlash2BlockInstructions + library::kFlash2OutputInstructions * outputs);
}

void set_flash2(Blocks& c, bool paged, const Gpu& gpu) {
  const Tile& split = kFa2SplitTiles[head_row(c.width)];
  // With one query per head, the heads of a group fill a tile as its queries.
  if (c.shape.seq_q == 1) c.packed = c.shape.group();
  // Two blocks of four warps fit an SM. With a paged cache, keys are split only if each head has
  // one query and heads share K and V (mha_varlen_fwd).
  if (c.splits == kToChoose && (!paged || c.packed > 1)) {
    c.splits = flash_splits(c.heads() * ceil_div(c.rows(), split.queries), 2 * gpu.slots(1),
                            ceil_div(c.shape.seq_kv, split.keys), true);
  }
  c.tile = paged || c.splits > 1 ? split : flash2_tile(c, gpu);
  const bool fills = !paged && c.width <= 128 && c.width == c.shape.head_dim &&
                     c.shape.seq_q % c.tile.queries == 0 && c.shape.seq_kv % c.tile.keys == 0;
  set_flash2_instructions(c, fills);
  // flash_fwd_kernel.h, compute_attn_1rowblock: n_masking_steps.
  const std::int64_t diagonal = ceil_div(c.tile.queries, c.tile.keys);
  c.tile.masked_copies = c.shape.causal ? diagonal + (fills ? 0 : 1) : 1;
  c.tile.chains = library::kFlash2Products;
  c.tile.in_order = true;
  c.sums.parts_at_once = 1;
}

// flash_attn_interface.py: num_splits. vLLM leaves it to the kernel where the cache has pages.
std::int64_t flash3_splits(const Blocks& c, bool paged, const Gpu& gpu) {
  constexpr std::int64_t kFewSteps = 4;
  const std::int64_t steps = ceil_div(c.shape.seq_kv, c.tile.keys);
  if ((!paged && !decodes(c.shape)) || steps <= kFewSteps) return 1;
  return flash_splits(c.heads() * c.tiles(), gpu.slots(1), steps, false);
}

void set_flash3(Blocks& c, bool paged, const Gpu& gpu) {
  c.packed = c.shape.group();
  c.tile = (c.shape.causal || paged ? kFa3CausalTiles : kFa3Tiles)[head_row(c.width)];
  c.tile.waited_products = kWaitedShare;
  c.kernel.by_rows = paged;
  if (c.splits == kToChoose) c.splits = flash3_splits(c, paged, gpu);
}

// cuDNN doubles the splits until each SM has a block. It does not split if two splits would be
// enough, or with few keys (grids of its kernels for one query).
std::int64_t cudnn_splits(const Blocks& c, const Gpu& gpu) {
  constexpr std::int64_t kFewKeys = 512;
  const std::int64_t sms = gpu.slots(1), blocks = c.heads();
  if (c.shape.seq_kv <= kFewKeys || 2 * blocks >= sms) return 1;
  const std::int64_t most = std::min(c.shape.seq_kv / c.tile.keys, kMostSplits);
  std::int64_t parts = 1;
  while (parts * blocks < sms && 2 * parts <= most) parts *= 2;
  return parts;
}

void set_cudnn(Blocks& c, const Gpu& gpu) {
  const std::size_t row = head_row(c.width);
  if (decodes(c.shape)) {
    c.kernel.product = Instruction::mma_sync;
    c.packed = c.shape.group();
    c.tile = kCudnnDecodeTiles[row];
    c.tile.deals_keys = true;
    if (c.splits == kToChoose) c.splits = cudnn_splits(c, gpu);
  } else if (c.kernel.async_mma()) {
    c.tile = (c.kernel.in_tensor_memory() ? kTensorMemoryTiles : kCudnnTiles)[row];
    c.tile.scheduler = TileScheduler::queue;
    if (c.kernel.in_tensor_memory()) c.tile.waited_products = kWaitedShare;
  } else {
    c.tile = kNarrowTiles[row];
    c.tile.chains = library::kFlash2Products;
  }
}

void set_trtllm(Blocks& c, const Gpu& gpu) {
  if (decodes(c.shape)) return set_decoding(c, gpu);
  c.tile = (c.kernel.async_mma() ? kTrtllmTiles : kNarrowTiles)[head_row(c.width)];
  if (!c.kernel.async_mma()) return;
  // fused_multihead_attention_v2.cpp: if K and V, counted once per query head, fit L2, the longest
  // tiles of all heads go first; else a head's tiles are consecutive. Persistent blocks have one
  // buffer for Q: a tile's loads start after the tile before, as in a block of its own.
  c.tile.in_order = 2 * c.shape.q_bytes() > gpu.memory.l2_bytes.value_or(0);
  if (c.width < 256 && c.shape.seq_q <= 64) c.tile.queries = 64;
}

// In less shared memory a tile has fewer keys, then fewer queries (flash_fwd_launch_template.h).
void fit_block(Blocks& c, const Gpu& gpu) {
  if (!gpu.occupancy) return;
  constexpr std::int64_t kFewest = 16;
  Tile& tile = c.tile;
  const std::int64_t places = (tile.deals_keys ? 1 : 2) * tile.stages;
  const std::int64_t row_bytes = c.width * static_cast<std::int64_t>(c.shape.element);
  const auto bytes = [&] { return (tile.queries + places * tile.keys) * row_bytes; };
  const auto fits = [&] { return bytes() <= gpu.occupancy->shared_bytes_per_block; };
  while (!fits() && tile.keys > kFewest) tile.keys /= 2;
  while (!fits() && tile.queries > kFewest) tile.queries /= 2;
  tile.shared_bytes = bytes();
  tile.registers = gpu.occupancy->registers_for(tile.blocks_per_sm, tile.warps * 32);
}

// Shared memory holds K, V, dS, and stages of Q and dO; if it is short: fewer keys, then one stage.
void fit_backward(Tile& tile, std::int64_t width, const Gpu& gpu) {
  constexpr std::int64_t kFewKeys = 64;
  const auto bytes = [&] {
    return (2 * (tile.keys + tile.stages * tile.queries) * width + tile.queries * tile.keys) * 2;
  };
  const auto fits = [&] {
    return !gpu.occupancy || bytes() <= gpu.occupancy->shared_bytes_per_block;
  };
  if (!fits()) tile.keys = std::min(tile.keys, kFewKeys);
  if (!fits()) tile.stages = 1;
  tile.shared_bytes = bytes();
}

}  // namespace

Kernel kernel_of(Library library, const Gpu& gpu) {
  const bool newest = library == kCudnn || library == kTrtllm;  // the newest instruction of the GPU
  const auto takes = [&](Instruction one) { return newest && gpu.features.has(one); };
  const Instruction product = library == kFa3 || takes(Instruction::wgmma) ? Instruction::wgmma
                              : takes(Instruction::tcgen05)                ? Instruction::tcgen05
                                                                           : Instruction::mma_sync;
  Kernel kernel{product, library::kScoreInstructions, library::kMaskInstructions};
  if (kernel.in_tensor_memory()) kernel.instructions_a_score = library::kPackedScoreInstructions;
  return kernel;
}

Blocks library_forward(const Problem& p, const Gpu& gpu) {
  const Library library = library_of(p);
  const Shape shape(p);
  const bool paged = p[kCacheWrites] != kNoWrites;
  Blocks c{shape, kernel_of(library, gpu), {}, padded_width(library, shape.head_dim), p[kSplits]};
  // With tensor memory TensorRT-LLM's kernels are built as cuDNN's, except for very large groups.
  const bool too_large = decodes(shape) && shape.group() > kLargestGroup;
  if (library == kTrtllm && (!c.kernel.in_tensor_memory() || too_large)) {
    set_trtllm(c, gpu);
  } else if (library == kFa2) {
    set_flash2(c, paged, gpu);
  } else if (library == kFa3) {
    set_flash3(c, paged, gpu);
  } else {
    set_cudnn(c, gpu);
    if (library == kTrtllm && decodes(shape)) c.tile.waits_before.global = kDependentLoads;
  }
  if (c.splits == kToChoose) c.splits = 1;
  const bool shares_queries = !c.tile.merges && !c.tile.deals_keys;
  if (shares_queries && !is_persistent(c.tile.scheduler)) {
    c.tile.waits_before.arithmetic = library::kBlockOperations;
  }
  fit_block(c, gpu);
  return c;
}

Backward library_backward(const Problem& p, const Gpu& gpu) {
  const Library library = library_of(p);
  const Shape shape(p);
  require(library != kTrtllm, "TensorRT-LLM has no backward: choose cudnn, fa2 or fa3");
  const std::int64_t width = padded_width(library, shape.head_dim);
  Backward c{.shape = shape,
             .kernel = kernel_of(library, gpu),
             .keys = {},
             .rows = {shape.seq_q, shape.head_dim, ceil_div(shape.head_dim, 8)},
             .width = width,
             .heads_apart = true};
  if (library != kFa3) c.rows.waits = library::kGradientPassWaits;
  if (library == kFa2) {
    // flash_api.cpp: dQ's sums are padded to 32 elements, 128 rows. PyTorch sums dK, dV per group.
    c.rows.rows = round_up(shape.seq_q, 128);
    c.rows.width = round_up(shape.head_dim, 32);
  }
  Tile& tile = c.keys;
  tile = (!c.kernel.async_mma() ? kFa2BackwardTiles
          : library == kFa3     ? kFa3BackwardTiles
                                : kCudnnBackwardTiles)[head_row(width)];
  if (!c.kernel.async_mma()) tile.chains = 2;  // P and dS of a tile concurrently
  tile.registers = 168;
  tile.together =
      heads_together(shape.batch * shape.heads, 1, shape.seq_q * shape.head_dim * 2, shape.causal);
  fit_backward(tile, width, gpu);
  if (library == kCudnn && c.kernel.async_mma()) {
    tile.block_instructions = as_double(tile.keys * width) * library::kResultInstructions / 32;
  }
  return c;
}

}  // namespace roofcast::attention
