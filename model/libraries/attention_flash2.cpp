#include <algorithm>
#include <array>
#include <cmath>

#include "model/constants/libraries.hpp"
#include "model/libraries/attention_tiles.hpp"

namespace roofcast::attention {
namespace {

// flash_fwd_launch_template.h: the split-KV kernel, for head dimensions of at most 64, 128 and 256.
constexpr std::array<Tile, kHeadDims.size()> kSplitTiles = {
    {{64, 256, 4, 1, 2}, {64, 128, 4, 1, 2}, {64, 64, 4, 1, 2}}};

// flash_fwd_launch_template.h, run_mha_fwd_hdim32 to run_mha_fwd_hdim256: the kernel without splits.
Tile whole_tile(const Blocks& c, const Gpu& gpu) {
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

// Whether the kernel is compiled for lengths and a head dim that fill its tiles.
bool fills_tiles(const Blocks& c, bool paged) {
  return !paged && c.width <= 128 && c.width == c.shape.head_dim &&
         c.shape.seq_q % c.tile.queries == 0 && c.shape.seq_kv % c.tile.keys == 0;
}

// flash_fwd_kernel.h, compute_attn_1rowblock: n_masking_steps.
std::int64_t masked_copies(const Blocks& c, bool fills) {
  if (!c.shape.causal) return 1;
  return ceil_div(c.tile.queries, c.tile.keys) + (fills ? 0 : 1);
}

// The instructions of a warp as compiled.
void count_instructions(Blocks& c, bool fills) {
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

}  // namespace

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

void set_flash2(Blocks& c, bool paged, const Gpu& gpu) {
  const Tile& split = kSplitTiles[head_row(c.width)];
  // With one query per head, the heads of a group fill a tile as its queries.
  if (c.shape.seq_q == 1) c.packed = c.shape.group();
  // Two blocks of four warps fit an SM. With a paged cache, keys are split only if each head has
  // one query and heads share K and V (mha_varlen_fwd).
  if (c.splits == kToChoose && (!paged || c.packed > 1)) {
    c.splits = flash_splits(c.heads() * ceil_div(c.shape.seq_q * c.packed, split.queries),
                            2 * gpu.slots(1), ceil_div(c.shape.seq_kv, split.keys), true);
  }
  c.tile = paged || c.splits > 1 ? split : whole_tile(c, gpu);
  const bool fills = fills_tiles(c, paged);
  count_instructions(c, fills);
  c.tile.masked_copies = masked_copies(c, fills);
  c.tile.chains = library::kFlash2Products;
  c.tile.in_order = true;
  c.sums.parts_at_once = 1;
}

}  // namespace roofcast::attention
