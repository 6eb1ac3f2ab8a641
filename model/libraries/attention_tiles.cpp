#include "model/libraries/attention_tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention_serving.hpp"

namespace roofcast::attention {
namespace {

// Counted, as this project's flash3 (6.3 with the sums at head dim 128): a multiply-add for scale and
// maximum, the maximum, the exponential, the sum and half of a conversion to a pair; a
// multiplication to rescale.
constexpr double kScoreInstructions = 5.3;
constexpr Kernel kFlash2 = {Instruction::mma_sync, kScoreInstructions, 1,
                            library::kMaskInstructions};
constexpr Kernel kFlash3 = {Instruction::wgmma, kScoreInstructions, 1, library::kMaskInstructions};

// Heads are padded to one of these: FlashAttention, one kernel each; cuDNN by the names of its
// kernels.
constexpr std::array<std::int64_t, 6> kFlash2Widths = {32, 64, 96, 128, 192, 256};
constexpr std::array<std::int64_t, 5> kFlash3Widths = {64, 96, 128, 192, 256};
constexpr std::array<std::int64_t, 3> kCudnnWidths = {64, 128, 256};

std::int64_t width_in(std::span<const std::int64_t> widths, std::int64_t head_dim) {
  const auto found = std::lower_bound(widths.begin(), widths.end(), head_dim);
  return found != widths.end() ? *found : widths.back();
}

// FlashAttention-3, hopper/tile_size.h: two or three warpgroups of 64 rows each, and one that
// copies.
Tile flash3_tile(std::int64_t width, bool causal) {
  if (width == 64) return {192, causal ? 128 : 192, 16, 64, 2, 1};
  if (width <= 128) return {128, causal ? 128 : 176, 12, 64, 2, 1};
  return {128, 80, 12, 64, 2, 1};
}

// cuDNN, likewise: 128 queries, 128 keys a step; blocks that stay take tiles from a counter.
Tile cudnn_tile(std::int64_t width) {
  const std::int64_t stages = width <= 128 ? 3 : 2;
  Tile tile{128, width <= 128 ? 128 : 64, 12, 64, stages, 1};
  tile.scheduler = TileScheduler::queue;
  tile.waited_products = kWaitsForScores;
  return tile;
}

// By mma.sync, of kernels named for compute capability 8.0: 64 queries, 64 keys a step.
Tile cudnn_narrow_tile(std::int64_t width) {
  return {64, 64, 4, 16, 1, width <= 128 ? 2 : 1};
}

// Of one query a head, likewise: the queries of a group, and keys dealt out to four warps.
Tile cudnn_decode_tile(std::int64_t width) {
  Tile tile{16, 128, 4, 16, 1, width <= 64 ? 4 : 2};
  tile.deals_keys = true;
  return tile;
}

// FlashAttention-2, flash_fwd_launch_template.h: the usual kernel, and that of split keys.
Tile flash2_tile(std::int64_t width) {
  if (width <= 64) return {128, 128, 4, 32, 1, 2};
  if (width <= 128) return {128, 64, 4, 32, 1, 2};
  return {128, 64, 8, 16, 1, 1};
}
Tile flash2_split_tile(std::int64_t width) {
  const std::int64_t keys = width <= 64 ? 256 : width <= 128 ? 128 : 64;
  return {64, keys, 4, 16, 1, width <= 128 ? 2 : 1};
}

// TensorRT-LLM: two warpgroups of 64 rows and one that copies; without wgmma four warps of 16 rows.
// Three blocks an SM there by hand to the rows of compute capability 8.0.
Tile trtllm_tile(std::int64_t head, std::int64_t rows, bool wide) {
  if (!wide) return {64, 64, 4, 16, 1, head == 256 ? 1 : 3};
  // A warpgroup without rows does nothing.
  const std::int64_t queries = rows <= 64 && head < 256 ? 64 : 128;
  if (head == 64) return {queries, 256, 12, 64, 2, 1};
  if (head == 128) return {queries, 128, 12, 64, 2, 1};
  return {queries, 64, 12, 64, 2, 1};
}

// flash_api.cpp: num_splits_heuristic. The fewest parts whose last round is nearly as full as the
// best.
std::int64_t flash2_splits(const Forward& c, const Gpu& gpu) {
  constexpr double kEnough = 0.8, kNearly = 0.85;
  const std::int64_t keys = flash2_split_tile(c.width.value_or(0)).keys;
  const std::int64_t steps = ceil_div(c.shape.seq_kv, keys), places = 2 * gpu.sm_count.value_or(1);
  const std::int64_t blocks = c.copies() * ceil_div(c.rows(), 64);
  if (as_double(blocks) >= kEnough * as_double(places)) return 1;
  const std::int64_t most = std::min({kMostSplits, places, steps});
  // Parts that leave the longest as long as fewer would are none.
  const auto shortens = [&](std::int64_t parts) {
    return parts == 1 || ceil_div(steps, parts) != ceil_div(steps, parts - 1);
  };
  const auto fullness = [&](std::int64_t parts) {
    const double rounds = as_double(blocks * parts) / as_double(places);
    return rounds / std::ceil(rounds);
  };
  double best = 0;
  for (std::int64_t parts = 1; parts <= most; ++parts) {
    if (shortens(parts)) best = std::max(best, fullness(parts));
  }
  for (std::int64_t parts = 1; parts <= most; ++parts) {
    if (shortens(parts) && fullness(parts) >= kNearly * best) return parts;
  }
  return 1;
}

// cuDNN, by the grids of its kernels for one query: parts that double until each SM has a block,
// none where two would be enough, and none of few keys.
std::int64_t cudnn_splits(const Forward& c, const Gpu& gpu) {
  constexpr std::int64_t kFewKeys = 512;
  const std::int64_t sms = gpu.sm_count.value_or(1), blocks = c.copies();
  if (c.shape.seq_kv <= kFewKeys || 2 * blocks >= sms) return 1;
  const std::int64_t steps = c.shape.seq_kv / c.tile.keys;
  std::int64_t parts = 1;
  while (parts * blocks < sms && 2 * parts <= std::min(steps, kMostSplits)) parts *= 2;
  return parts;
}

// FlashAttention-3 (hopper/heuristics.h) packs the heads of a group where tiles are under 0.9 as
// full otherwise, and where it does not know the lengths.
std::int64_t flash3_packed(const Shape& shape, std::int64_t width, bool lengths) {
  const std::int64_t group = shape.group();
  if (lengths) return group;
  constexpr double kAsFull = 0.9;
  const std::int64_t queries = flash3_tile(width, shape.causal).queries;
  const auto fullness = [&](std::int64_t packed) {
    const std::int64_t rows = shape.seq_q * packed;
    return as_double(rows) / as_double(ceil_div(rows, queries) * queries);
  };
  return fullness(1) < kAsFull * fullness(group) ? group : 1;
}

void set_flash2(Forward& c, const Gpu& gpu) {
  // The heads of a group are as queries where each has one.
  if (c.shape.seq_q == 1) c.packed = c.shape.group();
  c.tile = flash2_tile(*c.width);
  if (c.splits == kToChoose) c.splits = flash2_splits(c, gpu);
  if (c.splits > 1) c.tile = flash2_split_tile(*c.width);
  c.sums.parts_at_once = 1;
  c.tile.chains = library::kFlash2Products;
  c.tile.in_order = true;
}

void set_flash3(Forward& c, bool lengths) {
  c.packed = flash3_packed(c.shape, *c.width, lengths);
  c.tile = flash3_tile(*c.width, c.shape.causal);
  c.tile.waited_products = kWaitsForScores;
}

void set_cudnn(Forward& c, const Gpu& gpu) {
  const bool decoded = serving::decodes(c.shape);
  if (decoded) {
    c.kernel = kFlash2;
    c.packed = c.shape.group();
    c.tile = cudnn_decode_tile(*c.width);
  } else if (c.kernel.wide()) {
    c.tile = cudnn_tile(*c.width);
  } else {
    c.tile = cudnn_narrow_tile(*c.width);
    c.tile.chains = library::kFlash2Products;
  }
  if (c.splits == kToChoose) c.splits = decoded ? cudnn_splits(c, gpu) : 1;
}

// Where a block has less shared memory, libraries compile tiles of fewer keys, then of fewer
// queries (flash_fwd_launch_template.h).
void fit_shared_memory(Forward& c, const Gpu& gpu) {
  if (!gpu.occupancy) return;
  constexpr std::int64_t kFewest = 16;
  const auto row = static_cast<std::int64_t>(c.head() * c.shape.element);
  const auto fits = [&] {
    return shared_rows(c.tile) * row <= gpu.occupancy->shared_bytes_per_block;
  };
  while (!fits() && c.tile.keys > kFewest) c.tile.keys /= 2;
  while (!fits() && c.tile.queries > kFewest) c.tile.queries /= 2;
}

void set_trtllm(Forward& c, const Gpu& gpu) {
  // Prefill packs none.
  if (serving::takes_groups(c.shape, gpu)) c.packed = c.shape.group();
  if (serving::decodes(c.shape)) {
    c.kernel = kFlash2;
    c.tile = c.packed > 1 ? serving::group_tile(c.shape) : serving::vector_tile(c.shape, gpu);
    if (c.splits == kToChoose) c.splits = serving::splits(c.shape, gpu);
    return;
  }
  c.tile = trtllm_tile(*c.width, c.shape.seq_q, c.kernel.wide());
}

}  // namespace

std::int64_t shared_rows(const Tile& tile) {
  return tile.queries + (tile.deals_keys ? 1 : 2) * tile.stages * tile.keys;
}

std::int64_t library_width(Library library, std::int64_t head_dim) {
  if (library == kTrtllm) return padded_head(head_dim);
  if (library == kFa2) return width_in(kFlash2Widths, head_dim);
  return library == kFa3 ? width_in(kFlash3Widths, head_dim) : width_in(kCudnnWidths, head_dim);
}

Kernel kernel_of(Library library, const Gpu& gpu) {
  const bool wide = has_wide_products(gpu);
  const auto on_this = [&](Kernel kernel) {
    if (!gpu.features.has(Instruction::wgmma)) kernel.product = Instruction::tcgen05;
    return kernel;
  };
  if (library == kFa2) return kFlash2;
  if (library == kFa3) return kFlash3;
  return wide ? on_this(kFlash3) : kFlash2;
}

Forward library_forward(Library library, const Shape& shape, std::int64_t splits, bool lengths,
                        const Gpu& gpu) {
  const Kernel kernel = kernel_of(library, gpu);
  Forward c{.shape = shape,
            .kernel = kernel,
            .tile = {},
            .splits = splits,
            .width = library_width(library, shape.head_dim)};
  // With tensor memory TensorRT-LLM's kernels are made as cuDNN's are.
  if (library == kTrtllm && kernel.product != Instruction::tcgen05) {
    set_trtllm(c, gpu);
  } else if (library == kFa2) {
    set_flash2(c, gpu);
  } else if (library == kFa3) {
    set_flash3(c, lengths);
  } else {
    set_cudnn(c, gpu);
  }
  fit_shared_memory(c, gpu);
  return c;
}

}  // namespace roofcast::attention
