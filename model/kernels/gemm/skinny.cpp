// gemm.skinny: weights are read once, against few tokens. For at most 8 tokens weights go from
// memory to registers; for more, both operands go through a ring of stages in shared memory, or the
// product runs in gemm.wgmma's tiles.
#include <algorithm>
#include <utility>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::tensor {
namespace {

using skinny::along_k, skinny::tokens_of, skinny::transposes, skinny::weights_in_b;

bool is_whole(const Problem& p, std::int64_t row) {
  return row * element_bytes(p.dtype) % kVectorBytes == 0;
}
// Whether a ring can copy both operands: their rows, as read, begin at multiples of 16 bytes.
bool has_whole_rows(const Problem& p) {
  const bool a = p[kTransposedA] != 0 || is_whole(p, stored_a(p).row);
  return a && (transposes(p) || is_whole(p, stored_b(p).row));
}
// Whether the register kernel loads both operands 16 bytes at a time.
bool is_aligned(const Problem& p) {
  return is_whole(p, p[kK]) && (along_k(p) || is_whole(p, p[kN])) && has_whole_rows(p);
}
// Whether a ring reads tokens from columns of B as stored, [k,n]. If not, B is transposed first.
bool reads_across(const Problem& p) {
  return transposes(p) && is_whole(p, stored_b(p).row);
}

// The register tile that takes the place of a ring with that many tokens.
const SkinnyTile* element_tile_for(const Problem& p, std::int64_t tokens) {
  return std::find_if(
      kSkinnyElementTiles.begin(), kSkinnyElementTiles.end(),
      [&](const SkinnyTile& tile) { return tile.along_k == along_k(p) && tile.tokens == tokens; });
}

/// A tile of tokens and weight rows, and its kernel: ring, registers or, with neither, gemm.wgmma.
struct Option {
  TileShape tile;
  const MmaTile* ring = nullptr;
  const SkinnyTile* registers = nullptr;

  bool by_wgmma() const { return ring == nullptr && registers == nullptr; }
};

std::vector<Option> options_of(const Problem& p, const Gpu& gpu) {
  require(tokens_of(p) <= kMostTokens, "gemm.skinny takes at most ", kMostTokens,
          " rows of A or columns of B: use gemm.wgmma or gemm.mma_sync");
  const bool has_wgmma = gpu.features.has(Instruction::wgmma);
  std::vector<Option> all;
  for (const SkinnyTile& tile : kSkinnyTiles) {
    if (tile.along_k != along_k(p) || tile.tokens < tokens_of(p)) continue;
    all.push_back({{tile.tokens, tile.rows(), SkinnyTile::kBlockK}, nullptr, &tile});
  }
  for (const MmaTile& ring : kSkinnyRings) {
    if (ring.m < tokens_of(p)) continue;
    Option option{shape_of(ring, p.dtype)};
    const bool by_wgmma = has_wgmma && skinny::of_wgmma(option.tile.chosen_in(p));
    if (!by_wgmma && has_whole_rows(p)) option.ring = &ring;
    if (!by_wgmma && !has_whole_rows(p)) option.registers = element_tile_for(p, ring.m);
    all.push_back(option);
  }
  if (has_wgmma) {
    all.push_back({{kMostTokens, skinny::kWgmmaRows[0], kTileLineBytes / element_bytes(p.dtype)}});
  }
  return all;
}

Option option_of(const Problem& p, const Gpu& gpu) {
  return find_tile("gemm.skinny", "this product", tile_in(p), options_of(p, gpu),
                   [](const Option& one) { return one.tile; });
}

// The product in a tile of its kernel, rows of weights along `down`. A step of the register kernel
// is one round of loads of all warps, round_k() deep.
TiledProduct product_of(const Problem& p, const Option& option) {
  const auto& [tile, ring, registers] = option;
  const std::int64_t rows = ring != nullptr ? tile.n : registers->rows();
  const std::int64_t depth = ring != nullptr ? tile.k : registers->round_k();
  if (weights_in_b(p)) return {p, {tile.m, rows, depth}, true};
  return {p, {rows, tile.m, depth}};
}

Launch launch_of(const TiledProduct& c, const Option& option) {
  const auto& [tile, ring, registers] = option;
  const std::array grid = {c.down(), c.p[kSplitK], c.p[kBatch]};
  if (ring != nullptr) {
    return {.grid = grid,
            .block = {ring->threads(), 1, 1},
            .registers = registers_of("gemm::skinny_kernels::ring_kernel", c.p.dtype, *ring,
                                      along_k(c.p), reads_across(c.p)),
            .shared_bytes = ring->shared_bytes()};
  }
  return {.grid = grid,
          .block = {kWarpLanes * SkinnyTile::kWarps, 1, 1},
          .registers = compiled::registers("gemm::skinny_kernels::register_kernel", c.p.dtype,
                                           registers->tokens, along_k(c.p), is_aligned(c.p),
                                           c.p[kSplitK] > 1),
          .shared_bytes = registers->shared_bytes()};
}

// L1 lookups of a warp's loads in a round. Eight lanes of a 16-byte load look up two lines of
// weights (four where rows of weights do not hold k); a token takes one line per block of k.
// Unaligned, eight loads of one element replace each load, at five lines each (counted 4.7 to 6.5).
double lines_of_loads(const Problem& p, const SkinnyTile& tile) {
  constexpr double kEighths = 4, kElements = 8, kLinesOfElements = 5;
  const double weight_loads = as_double(SkinnyTile::kLoads);
  const double token_rows = as_double(tile.blocks_at_once() * tokens_of(p));
  if (is_aligned(p)) return weight_loads * kEighths * (along_k(p) ? 2 : 4) + token_rows;
  return kElements * kLinesOfElements * (weight_loads + token_rows / 8);
}

void add_registers(Plan& plan, const TiledProduct& c, const SkinnyTile& tile, Step end) {
  const bool aligned = is_aligned(c.p);
  const std::size_t kind = aligned ? 1 : 0;
  const double blocks = as_double(c.blocks()), rounds = as_double(c.steps);
  const double warps = as_double(SkinnyTile::kWarps);
  // The bytes of tokens that a block loads: blocks with the same part of k load the same.
  const double tokens = c.across_bytes() / as_double(c.p[kBatch] * c.p[kSplitK]);
  Step round = c.step((c.down_bytes() / blocks + tokens) / rounds);
  round.issued.shared_bytes = 0;
  round.warp_instructions = warps * tile.round_instructions[kind];
  // The share of loads that lie within k; the others are skipped.
  const double there = c.s.k / (as_double(c.p[kSplitK] * c.tile.k) * rounds);
  round.wavefronts.l1 = round.wavefronts.l1_lookups = there * warps * lines_of_loads(c.p, tile);
  round.waits.global = 1;
  end.warp_instructions = warps * tile.end_instructions[kind];
  end.wavefronts.shared = 2 * warps * c.area() / 32;
  end.issued.shared_bytes = 2 * as_double(tile.shared_bytes());
  end.waits.global = end.waits.shared = end.waits.barriers = 1;
  set_blocks(plan, {{round, rounds, aligned ? 1.0 : 0.0}, {end}});
}

Plan main_launch(const TiledProduct& c, const Option& option, const Operands& operands) {
  Plan plan = c.plan({Instruction::mma_sync}, launch_of(c, option));
  plan.arrays = {operands.a.use, operands.b.use, writes(kC, c.s.c())};
  // Split-K: the block with a tile's last part adds the other blocks' partial sums after three
  // trips to L2: sums written, seen and read.
  constexpr double kTrips = 3;
  const double sums = as_double(c.tiles() * (c.parts() - 1) * kPartBytes) * c.area();
  const double blocks = as_double(c.blocks());
  Step end;
  set_traffic(end.issued, {sums / blocks, (c.s.c() + sums) / blocks});
  if (sums > 0) {
    plan.arrays.push_back(scratch(kParts, {0, sums}));
    end.waits.tile_loads = kTrips;
  }
  if (option.ring == nullptr) {
    add_registers(plan, c, *option.registers, end);
    return plan;
  }
  plan.needs.push_back(Instruction::cp_async);
  MmaTile tile = *option.ring;
  if (!c.swap_ab) {  // rows of weights lie along m
    std::swap(tile.m, tile.n);
    std::swap(tile.warps_down, tile.warps_across);
  }
  set_mma_loop(plan, c, tile, operands, end);
  return plan;
}

// Whether a tile left to choose is worth a forecast. Of rings, and of register tiles in their
// place, only the smallest that holds the tokens is. Tokens that are columns of B as [k,n] must
// fill a tile of gemm.wgmma: TMA fills missing columns in each line of k.
bool worth_a_forecast(const Problem& p, const Option& option, const Gpu& gpu) {
  const std::int64_t tokens = tokens_of(p);
  if (option.by_wgmma()) return !has_whole_rows(p) || !transposes(p) || tokens == option.tile.m;
  if (option.tile.k == SkinnyTile::kBlockK) return true;
  const std::int64_t smallest = power_of_two_from(std::max(tokens, kSkinnyRings.front().m));
  if (option.tile.m != smallest) return false;
  if (option.ring == nullptr) return tokens > kSkinnyTiles.front().tokens;
  return !gpu.occupancy || option.ring->shared_bytes() <= gpu.occupancy->shared_bytes_per_block;
}

// Adds the tile with each split-K factor worth a forecast: one whose blocks are all resident.
void add_splits(std::vector<Problem>& found, Problem tile, const Option& option, const Gpu& gpu) {
  const std::int64_t asked = tile[kSplitK];
  if (option.by_wgmma()) {
    for (const Problem& one : wgmma_candidates(skinny::as_wgmma(tile), gpu)) {
      if (one[kSplitK] == 1) found.emplace_back(tile)[kSplitK] = one[kSplitRest];
    }
    return;
  }
  const std::int64_t blocks =
      tile[kBatch] * ceil_div(weights_in_b(tile) ? tile[kN] : tile[kM], option.tile.n);
  const std::int64_t at_once = gpu.slots(2);
  const std::int64_t steps = ceil_div(tile[kK], option.tile.k);
  for (const std::int64_t split : splits_of(asked, steps, blocks, at_once, kSplits, 1)) {
    if (asked == kToChoose && split > 1 && blocks * split > at_once) break;
    found.emplace_back(tile)[kSplitK] = split;
  }
}

}  // namespace

LaunchSequence plan_skinny(const Problem& p, const Gpu& gpu) {
  const Option option = option_of(p, gpu);
  if (option.by_wgmma()) return plan_wgmma(skinny::as_wgmma(p), gpu);
  check_split("split_k", p[kSplitK], "steps of " + std::to_string(option.tile.k) + " k",
              ceil_div(p[kK], option.tile.k));
  const bool b_along_k = transposes(p) && !(option.ring != nullptr && reads_across(p));
  const Operands operands = operands_of(p, b_along_k, kTileLineBytes, false);
  return with_copies(operands, main_launch(product_of(p, option), option, operands));
}

std::vector<Problem> skinny_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  for (const Option& option : options_of(p, gpu)) {
    if (!option.tile.is_asked_by(p)) continue;
    if (p[kTileM] == kToChoose && !worth_a_forecast(p, option, gpu)) continue;
    add_splits(found, option.tile.chosen_in(p), option, gpu);
  }
  if (found.empty()) (void)option_of(p, gpu);  // throws, listing the tiles
  return found;
}

}  // namespace roofcast::gemm::tensor
