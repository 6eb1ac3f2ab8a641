// gemm.skinny: weights read once against few tokens. Weights go from memory to registers for at
// most 8 tokens, else with them through a ring of shared memory or in gemm.wgmma's tiles.
#include <algorithm>
#include <string>
#include <utility>

#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/kernels/gemm/tiles.hpp"

namespace roofcast::gemm::tensor {
namespace {

using skinny::along_k, skinny::rows_of, skinny::tokens_of, skinny::transposes, skinny::weights_in_b;

bool is_whole(const Problem& p, std::int64_t row) {
  return row * element_bytes(p.dtype) % kVectorBytes == 0;
}
// Whether rows of A begin at multiples of 16 bytes as they are read: those of a transposed copy do.
bool has_whole_a(const Problem& p) {
  return p[kTransposedA] != 0 || is_whole(p, stored_a(p).row);
}
/// Whether a ring, which copies whole rows alone, finds such.
bool has_whole_rows(const Problem& p) {
  return has_whole_a(p) && (transposes(p) || is_whole(p, stored_b(p).row));
}
/// Whether a ring reads few columns of B as they are stored, by rows of k. Else they are
/// transposed.
bool reads_across(const Problem& p) {
  return transposes(p) && has_whole_a(p) && is_whole(p, stored_b(p).row);
}

/// A tile of tokens and rows of weights that a product can ask for, and the kernel that has it.
struct Option {
  TileShape tile;
  const SkinnyRing* ring = nullptr;  ///< none: by registers
  bool by_wgmma = false;
};

std::vector<Option> options_of(const Problem& p, const Gpu& gpu) {
  require(tokens_of(p) <= kMostTokens, "gemm.skinny takes at most ", kMostTokens,
          " rows of A or columns of B: use gemm.wgmma or gemm.mma_sync");
  std::vector<Option> all;
  for (const SkinnyTile& tile : kSkinnyTiles) {
    if (tile.along_k != along_k(p) || tile.tokens < tokens_of(p)) continue;
    all.push_back({{tile.tokens, tile.rows(), SkinnyTile::kBlockK}});
  }
  const auto add = [&](const TileShape& tile, const SkinnyRing* ring) {
    const bool by_wgmma =
        gpu.features.has(Instruction::wgmma) && skinny::of_wgmma(tile.chosen_in(p));
    if (by_wgmma || ring != nullptr) all.push_back({tile, by_wgmma ? nullptr : ring, by_wgmma});
  };
  for (const SkinnyRing& ring : kSkinnyRings) {
    if (ring.tokens >= tokens_of(p)) add({ring.tokens, ring.rows, ring.depth}, &ring);
  }
  add({kMostTokens, skinny::kWgmmaRows[0], kTileLineBytes / element_bytes(p.dtype)}, nullptr);
  return all;
}

Option option_of(const Problem& p, const Gpu& gpu) {
  return find_tile("gemm.skinny", "this product", tile_in(p), options_of(p, gpu),
                   [](const Option& one) { return one.tile; });
}

/// The product and its kernel; the weights lie down.
struct Choice : TiledProduct {
  const SkinnyRing* ring;
  SkinnyTile registers;  ///< where there is no ring

  bool aligned() const {
    return is_whole(p, p[kK]) && (along_k(p) || is_whole(p, p[kN])) && has_whole_rows(p);
  }
};

// For operands off 16 bytes there are tiles of more tokens.
const SkinnyTile& registers_for(const Problem& p, std::int64_t tokens) {
  const auto fits = [&](const SkinnyTile& tile) {
    return tile.along_k == along_k(p) && tile.tokens == tokens;
  };
  const auto found = std::find_if(kSkinnyTiles.begin(), kSkinnyTiles.end(), fits);
  return found != kSkinnyTiles.end()
             ? *found
             : *std::find_if(kSkinnyElementTiles.begin(), kSkinnyElementTiles.end(), fits);
}

/// By registers: for at most 8 tokens, and in place of a ring that cannot copy. Their step is a
/// round of loads, the blocks of k of all warps.
Choice choice_of(const Problem& p, const Option& option) {
  const SkinnyRing* ring = has_whole_rows(p) ? option.ring : nullptr;
  const std::int64_t tokens = option.tile.m;
  const SkinnyTile tile = ring != nullptr ? SkinnyTile{} : registers_for(p, tokens);
  const std::int64_t rows = ring != nullptr ? ring->rows : tile.rows();
  const std::int64_t depth = ring != nullptr ? ring->depth : tile.round_k();
  const bool turned = weights_in_b(p);
  const TileShape shape{turned ? tokens : rows, turned ? rows : tokens, depth};
  return {{p, shape, turned}, ring, tile};
}

Launch launch_of(const Choice& c) {
  Launch launch;
  launch.grid = {c.down(), c.p[kSplitK], c.p[kBatch]};
  if (c.ring != nullptr) {
    const SkinnyRing& ring = *c.ring;
    launch.block[0] = ring.threads();
    launch.registers = compiled::registers(
        "gemm::skinny_kernels::ring_kernel", c.p.dtype, ring.tokens, ring.rows, ring.depth, 1,
        ring.warps, ring.stages, ring.blocks, along_k(c.p), reads_across(c.p));
    launch.shared_bytes = ring.shared_bytes();
  } else {
    launch.block[0] = kWarpLanes * SkinnyTile::kWarps;
    launch.registers =
        compiled::registers("gemm::skinny_kernels::register_kernel", c.p.dtype, c.registers.tokens,
                            along_k(c.p), c.aligned(), c.p[kSplitK] > 1);
    launch.shared_bytes = c.registers.shared_bytes();
  }
  return launch;
}

// Lines that a warp's loads of a round look up: of 16 bytes by eight lanes, two or, across k, four
// lines of weights, and a row of each token; of elements by the warp, five of eight lines (4.7 to
// 6.5 by the counters).
double lines_of_loads(const Choice& c) {
  constexpr double kEighths = 4, kElements = 8, kLinesOfElements = 5;
  const double weight_loads = as_double(SkinnyTile::kLoads);
  const double token_rows = as_double(c.registers.blocks_at_once() * tokens_of(c.p));
  if (c.aligned()) return weight_loads * kEighths * (along_k(c.p) ? 2 : 4) + token_rows;
  return kElements * kLinesOfElements * (weight_loads + token_rows / 8);
}

void add_registers(Plan& plan, const Choice& c, Step end) {
  const SkinnyTile& tile = c.registers;
  const bool aligned = c.aligned();
  const std::size_t kind = aligned ? 1 : 0;
  const double blocks = as_double(c.blocks()), rounds = as_double(c.steps());
  const double warps = as_double(SkinnyTile::kWarps);
  // All blocks of a part load the same tokens.
  const double tokens = c.across_bytes() / as_double(c.p[kBatch] * c.p[kSplitK]);
  Step round = c.step((c.down_bytes() / blocks + tokens) / rounds);
  round.issued.shared_bytes = 0;
  round.warp_instructions = warps * tile.round_instructions[kind];
  // Loads beyond the last k are left out.
  const double there = c.s.k / (as_double(c.p[kSplitK] * c.tile.k) * rounds);
  round.wavefronts.l1 = round.wavefronts.l1_lookups = there * warps * lines_of_loads(c);
  round.waits.global = 1;
  end.warp_instructions = warps * tile.end_instructions[kind];
  end.wavefronts.shared = 2 * warps * c.area() / 32;
  end.issued.shared_bytes = 2 * as_double(tile.shared_bytes());
  end.waits.global = end.waits.shared = end.waits.barriers = 1;
  set_blocks(plan, {{round, rounds, aligned ? 1.0 : 0.0}, {end}});
}

Plan main_launch(const Choice& c, const Operands& operands) {
  Plan plan = c.plan({Instruction::mma_sync}, launch_of(c));
  plan.arrays = {operands.a.use, operands.b.use, writes(kC, c.s.c())};
  // Sums of parts of k, which the blocks leave for the one of a tile's last part: three trips to L2
  // until they are written, seen, and read.
  constexpr double kTrips = 3;
  const double sums = as_double(c.tiles() * (c.parts() - 1) * kPartBytes) * c.area();
  const double blocks = as_double(c.blocks());
  Step end;
  set_traffic(end.issued, {sums / blocks, (c.s.c() + sums) / blocks});
  if (sums > 0) {
    plan.arrays.push_back(scratch(kParts, {0, sums}));
    end.waits.tile_loads = kTrips;
  }
  if (c.ring == nullptr) {
    add_registers(plan, c, end);
    return plan;
  }
  // Each warp has all tokens and its own rows of weights.
  plan.needs.push_back(Instruction::cp_async);
  set_mma_loop(plan, c,
               {.m = c.tile.m,
                .n = c.tile.n,
                .k_bytes = c.tile.k * element_bytes(c.p.dtype),
                .warps_down = c.turned ? 1 : c.ring->warps,
                .warps_across = c.turned ? c.ring->warps : 1,
                .stages = c.ring->stages,
                .blocks = c.ring->blocks},
               operands, false, end);
  return plan;
}

// Of tiles that nobody asked for those worth a forecast: by registers; of rings the smallest that
// hold the tokens, where they can copy or registers have no such tile; and those of gemm.wgmma.
bool worth_a_forecast(const Problem& p, const Option& option, std::int64_t ring_tokens,
                      const Gpu& gpu) {
  if (option.by_wgmma) {
    // TMA fills panels of columns that do not exist, line by line of k: 14336x8x4096 takes 69 µs
    // so, and 35 by a ring (kernel_bench on 132 SMs and 4.8 TB/s).
    const bool fills = transposes(p) && tokens_of(p) < option.tile.m;
    return !fills || !has_whole_rows(p);
  }
  if (option.ring == nullptr) return true;
  if (option.tile.m != ring_tokens) return false;
  if (tokens_of(p) <= kRegisterTokens && !has_whole_rows(p)) return false;
  return !gpu.occupancy || option.ring->shared_bytes() <= gpu.occupancy->shared_bytes_per_block;
}

// The tile with the parts of k that are worth a forecast: those fill the SMs and do not take turns.
void add_splits(std::vector<Problem>& found, Problem tile, const Option& option, const Gpu& gpu) {
  const std::int64_t asked = tile[kSplitK];
  if (option.by_wgmma) {
    for (const Problem& one : wgmma_candidates(skinny::as_wgmma(tile), gpu)) {
      if (one[kSplitK] == 1) found.emplace_back(tile)[kSplitK] = one[kSplitRest];
    }
    return;
  }
  const std::int64_t depth = choice_of(tile, option).tile.k;
  const std::int64_t blocks = tile[kBatch] * ceil_div(rows_of(tile), option.tile.n);
  const std::int64_t at_once = gpu.slots(2);
  for (const std::int64_t split : splits_of(asked, ceil_div(tile[kK], depth), blocks, at_once)) {
    if (asked == kToChoose && split > 1 && blocks * split > at_once) break;
    found.emplace_back(tile)[kSplitK] = split;
  }
}

}  // namespace

LaunchSequence plan_skinny(const Problem& p, const Gpu& gpu) {
  const Option option = option_of(p, gpu);
  if (option.by_wgmma) return plan_wgmma(skinny::as_wgmma(p), gpu);
  check_split("split_k", p[kSplitK], "steps of " + std::to_string(option.tile.k) + " k",
              ceil_div(p[kK], option.tile.k));
  const Choice c = choice_of(p, option);
  const Copies copies{transposes(p) && !(c.ring != nullptr && reads_across(p)), false};
  return with_copies(p, copies, main_launch(c, operands_of(p, copies)));
}

std::vector<Problem> skinny_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  const std::vector<Option> options = options_of(p, gpu);
  const auto smallest = std::find_if(options.begin(), options.end(),
                                     [](const Option& one) { return one.ring != nullptr; });
  const std::int64_t ring_tokens = smallest == options.end() ? kToChoose : smallest->tile.m;
  std::vector<Problem> found;
  for (const Option& option : options) {
    if (!option.tile.is_asked_by(p)) continue;
    if (p[kTileM] == kToChoose && !worth_a_forecast(p, option, ring_tokens, gpu)) continue;
    add_splits(found, option.tile.chosen_in(p), option, gpu);
  }
  if (found.empty()) (void)option_of(p, gpu);  // which says what there is
  return found;
}

}  // namespace roofcast::gemm::tensor
