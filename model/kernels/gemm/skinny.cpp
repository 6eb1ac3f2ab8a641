// gemm.skinny, by registers: weights from memory to registers, read once; the tokens come from L1.
// Which of its kernels a product takes, and what else it launches.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/skinny.hpp"
#include "model/kernels/gemm/tensor_models.hpp"
#include "model/kernels/gemm/tiles.hpp"

namespace roofcast::gemm::tensor {
namespace {

using skinny::along_k, skinny::has_whole_rows, skinny::is_whole, skinny::rows_of, skinny::tokens_of,
    skinny::weight_pitch, skinny::weights_in_b;

/// The product and its tile of registers.
struct Choice {
  Problem p;
  Sizes s;
  SkinnyTile tile;

  double weights() const { return weights_in_b(p) ? s.b() : s.a(); }
  double tokens() const { return weights_in_b(p) ? s.a() : s.b(); }
  bool aligned() const {
    return is_whole(p, p[kK]) && (tile.along_k || is_whole(p, p[kN])) && has_whole_rows(p);
  }
  /// Elements from one row of weights to the next, as the kernel reads them.
  std::int64_t row_blocks() const { return ceil_div(rows_of(p), tile.rows()); }
};

/// Tiles that a product can ask for, whichever kernel they are of.
struct Shape {
  std::int64_t tokens, rows, depth;
  const SkinnyRing* ring = nullptr;  ///< or none
  bool by_wgmma = false;

  std::string text() const {
    return std::to_string(tokens) + "x" + std::to_string(rows) + "x" + std::to_string(depth);
  }
};
std::vector<Shape> shapes_of(const Problem& p, const Gpu& gpu) {
  std::vector<Shape> all;
  for (const SkinnyTile& tile : kSkinnyTiles) {
    if (tile.along_k != along_k(p) || tile.tokens < tokens_of(p)) continue;
    all.push_back({tile.tokens, tile.rows(), SkinnyTile::kBlockK});
  }
  const auto add = [&](const Shape& shape) {
    Problem tile = p;
    tile[kTileM] = shape.tokens, tile[kTileN] = shape.rows, tile[kTileK] = shape.depth;
    const bool by_wgmma = gpu.features.has(Instruction::wgmma) && skinny::of_wgmma(tile);
    if (by_wgmma) all.push_back({shape.tokens, shape.rows, shape.depth, nullptr, true});
    if (!by_wgmma && shape.ring != nullptr) all.push_back(shape);
  };
  for (const SkinnyRing& ring : kSkinnyRings) {
    if (ring.tokens >= tokens_of(p)) add({ring.tokens, ring.rows, ring.depth, &ring});
  }
  add({kMostTokens, skinny::kWgmmaRows[0], kTileLineBytes / element_bytes(p.dtype)});
  return all;
}

void check_sizes(const Problem& p) {
  if (tokens_of(p) <= kMostTokens) return;
  throw InputError("gemm.skinny takes at most " + std::to_string(kMostTokens) +
                   " rows of A or columns of B: use gemm.wgmma or gemm.mma_sync");
}

Shape shape_of(const Problem& p, const Gpu& gpu) {
  check_sizes(p);
  std::string known;
  for (const Shape& one : shapes_of(p, gpu)) {
    if (one.tokens == p[kTileM] && one.rows == p[kTileN] && one.depth == p[kTileK]) return one;
    known += (known.empty() ? "" : ", ") + one.text();
  }
  throw InputError("gemm.skinny has no tile " + std::to_string(p[kTileM]) + "x" +
                   std::to_string(p[kTileN]) + "x" + std::to_string(p[kTileK]) +
                   " for this product: choose one of " + known);
}

bool by_ring(const Problem& p, const Shape& shape) {
  return shape.ring != nullptr && has_whole_rows(p);
}

/// By registers: for at most 8 tokens, and in place of a ring that cannot copy.
Choice choice_of(const Problem& p, const Shape& shape) {
  const auto fits = [&](const SkinnyTile& tile) {
    return tile.along_k == along_k(p) && tile.tokens == shape.tokens;
  };
  const auto& list = kSkinnyElementTiles;
  const auto found = std::find_if(list.begin(), list.end(), fits);
  if (found != list.end()) return {p, Sizes(p), *found};
  return {p, Sizes(p), *std::find_if(kSkinnyTiles.begin(), kSkinnyTiles.end(), fits)};
}

Launch launch_of(const Choice& c) {
  Launch launch;
  launch.grid = {c.row_blocks(), c.p[kSplitK], c.p[kBatch]};
  launch.block[0] = 32 * SkinnyTile::kWarps;
  launch.registers =
      compiled::registers("gemm::skinny_kernels::register_kernel", c.p.dtype, c.tile.tokens,
                          c.tile.along_k, c.aligned(), c.p[kSplitK] > 1);
  launch.shared_bytes = c.tile.shared_bytes();
  return launch;
}

// Rounds that a warp goes through: those ahead of their products come in pairs.
double rounds_run(const Choice& c, double rounds) {
  return c.aligned() ? 2 * std::ceil(rounds / 2) : rounds;
}

// Lines that the loads of a round look up. Loads of 16 bytes go by eight lanes, which hold two rows
// of four pieces each: two lines, or four where the pieces lie in different rows of k. Loads of
// elements go by the warp: eight lines, of which the counters find 4.7 to 6.5. A load of tokens has
// a row of each of eight, as far as they exist.
double lines_of_loads(const Choice& c, double weight_loads, double token_blocks) {
  constexpr double kEighths = 4, kElements = 8;
  const double token_rows = token_blocks * as_double(tokens_of(c.p));
  if (c.aligned()) return weight_loads * kEighths * (c.tile.along_k ? 2 : 4) + token_rows;
  constexpr double kLinesOfElements = 5;
  return kElements * (weight_loads * kLinesOfElements + token_rows * kLinesOfElements / 8);
}

// Sectors for what neighbouring lanes load of a row, 16 bytes each, by how far apart rows begin: 64
// bytes of k, or 128 across it. Of rows at odd multiples of 16 bytes L2 gives 1.2 to 1.35 times the
// bytes.
double sectors_for_bytes(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  return sectors_of_piece(piece_bytes, pitch_bytes) / as_double(piece_bytes / kSectorBytes);
}

Plan main_launch(const Choice& c, const ArrayUse& weights, const ArrayUse& tokens) {
  Plan plan;
  plan.needs = {Instruction::mma_sync};
  plan.compute = c.p.dtype;
  plan.useful.tensor_flops[c.p.dtype] = c.s.flops();
  plan.launch = launch_of(c);
  const JoinedParts parts(c.p, c.row_blocks(), c.tile.rows() * c.tile.tokens);
  const std::int64_t round_k = SkinnyTile::kWarps * SkinnyTile::kBlockK * c.tile.blocks_at_once();
  const std::int64_t element = element_bytes(c.p.dtype);
  const ArrayUse read = in_pieces(weights, (c.tile.along_k ? round_k : c.tile.rows()) * element,
                                  weight_pitch(c.p) * element);
  plan.arrays = {weights_in_b(c.p) ? tokens : read, weights_in_b(c.p) ? read : tokens,
                 writes(kC, c.s.c())};
  parts.add_to(plan.arrays);
  const double blocks = as_double(plan.launch.blocks());
  const double k_of_block = c.s.k / as_double(c.p[kSplitK]);
  const double k_of_round = as_double(round_k);
  const double rounds = std::ceil(k_of_block / k_of_round);

  // All blocks of a part load the same tokens, which L1 keeps for those of an SM.
  const double tokens_of_block = c.tokens() / as_double(c.p[kBatch] * c.p[kSplitK]);
  plan.reuse = {{.scope = Scope::sm,
                 .bytes = tokens_of_block * blocks,
                 .distinct_bytes = c.tokens(),
                 .distance_bytes = tokens_of_block}};
  constexpr std::int64_t kAlongK = 64, kAcrossK = 128;
  const double weight_bytes =
      c.weights() * (!c.aligned()     ? 1
                     : c.tile.along_k ? sectors_for_bytes(kAlongK, weight_pitch(c.p) * element)
                                      : sectors_for_bytes(kAcrossK, weight_pitch(c.p) * element));
  Step round;
  const double warps = as_double(SkinnyTile::kWarps);
  round.issued.tensor_flops[c.p.dtype] = 2 * as_double(c.tile.rows() * c.tile.tokens) * k_of_round;
  set_traffic(round.issued, {weight_bytes / (blocks * rounds) + tokens_of_block / rounds, 0});
  const std::size_t kind = c.aligned() ? 1 : 0;
  round.warp_instructions =
      warps * c.tile.round_instructions[kind] * rounds_run(c, rounds) / rounds;
  const double token_blocks = warps * as_double(c.tile.blocks_at_once());
  const double weight_loads = warps * as_double(SkinnyTile::kLoads);
  // Loads beyond the last k are left out.
  const double there = k_of_block / (rounds * k_of_round);
  round.wavefronts.l1 = round.wavefronts.l1_lookups =
      there * lines_of_loads(c, weight_loads, token_blocks);
  round.waits.global = 1;
  Step end;
  end.warp_instructions = warps * c.tile.end_instructions[kind];
  end.wavefronts.shared = 2 * warps * as_double(c.tile.rows() * c.tile.tokens) / 32;
  end.issued.shared_bytes = 2 * as_double(c.tile.shared_bytes());
  set_traffic(end.issued, {parts.bytes / blocks, (c.s.c() + parts.bytes) / blocks});
  end.waits = {.global = 1, .tile_loads = parts.trips(), .shared = 1, .barriers = 1};
  set_blocks(plan, {{round, rounds, c.aligned() ? 1.0 : 0.0}, {end}});
  return plan;
}

}  // namespace

LaunchSequence plan_skinny(const Problem& p, const Gpu& gpu) {
  const Shape shape = shape_of(p, gpu);
  if (shape.by_wgmma) return plan_wgmma(skinny::as_wgmma(p), gpu);
  const std::int64_t steps = ceil_div(p[kK], shape.depth);
  if (p[kSplitK] < 1 || p[kSplitK] > steps) {
    throw InputError("split_k is " + std::to_string(p[kSplitK]) + ": choose 1 to the steps of " +
                     std::to_string(shape.depth) + " k, " + std::to_string(steps));
  }
  const Choice c = choice_of(p, shape);
  const bool ring = by_ring(p, shape);
  LaunchSequence program;
  ArrayUse a = reads_activation(kA, c.s.a()), b = reads(kB, c.s.b());
  const std::int64_t size = element_bytes(p.dtype);
  if (p[kTransposedA] != 0) {
    program.push_back({transposed_copy({p[kK], p[kM], size, p[kBatch]}, a, kCopyOfA)});
    a = scratch(kCopyOfA, {c.s.a(), 0});
  }
  if (skinny::transposes(p) && !(ring && skinny::reads_across(p))) {
    program.push_back({transposed_copy({p[kK], p[kN], size, p[kBatch]}, b, kCopyOfB)});
    b = scratch(kCopyOfB, {c.s.b(), 0});
  }
  const ArrayUse& weights = weights_in_b(p) ? b : a;
  const ArrayUse& tokens = weights_in_b(p) ? a : b;
  program.push_back({ring ? skinny_ring_launch(p, *shape.ring, weights, tokens)
                          : main_launch(c, weights, tokens)});
  return program;
}

namespace {

// Of tiles that nobody asked for those worth a forecast: by registers; of rings the smallest that
// hold the tokens, where they can copy or registers have no such tile; and those of gemm.wgmma.
bool worth_a_forecast(const Problem& p, const Shape& shape, std::int64_t ring_tokens,
                      const Gpu& gpu) {
  if (shape.by_wgmma) {
    // TMA fills panels of columns that do not exist, line by line of k: 14336x8x4096 takes 69 µs
    // so, and 35 by a ring (kernel_bench on 132 SMs and 4.8 TB/s).
    const bool fills = skinny::transposes(p) && tokens_of(p) < shape.tokens;
    return !fills || !has_whole_rows(p);
  }
  if (shape.ring == nullptr) return true;
  if (shape.tokens != ring_tokens) return false;
  if (tokens_of(p) <= kRegisterTokens && !has_whole_rows(p)) return false;
  return !gpu.occupancy || shape.ring->shared_bytes() <= gpu.occupancy->shared_bytes_per_block;
}

// The tile with the parts of k that are worth a forecast: those fill the SMs and do not take turns.
void add_splits(std::vector<Problem>& found, Problem tile, const Shape& shape, const Gpu& gpu) {
  if (shape.by_wgmma) {
    for (const Problem& one : wgmma_candidates(skinny::as_wgmma(tile), gpu)) {
      if (one[kSplitK] > 1) continue;
      tile[kSplitK] = one[kSplitRest];
      found.push_back(tile);
    }
    return;
  }
  // A round of loads takes 8 warps' blocks of k.
  const Choice c = choice_of(tile, shape);
  const std::int64_t depth =
      by_ring(tile, shape) ? shape.depth
                           : SkinnyTile::kBlockK * SkinnyTile::kWarps * c.tile.blocks_at_once();
  const std::int64_t blocks = tile[kBatch] * ceil_div(rows_of(tile), shape.rows);
  const std::int64_t at_once = gpu.slots(2), asked = tile[kSplitK];
  for (const std::int64_t split : splits_of(asked, ceil_div(tile[kK], depth), blocks, at_once)) {
    if (asked == kToChoose && split > 1 && blocks * split > at_once) break;
    tile[kSplitK] = split;
    found.push_back(tile);
  }
}

}  // namespace

std::vector<Problem> skinny_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  check_sizes(p);
  const std::vector<Shape> shapes = shapes_of(p, gpu);
  const auto of_ring = [](const Shape& shape) { return shape.ring != nullptr; };
  const auto smallest = std::find_if(shapes.begin(), shapes.end(), of_ring);
  const std::int64_t ring_tokens = smallest == shapes.end() ? kToChoose : smallest->tokens;
  std::vector<Problem> found;
  for (const Shape& shape : shapes) {
    if (!is_asked(p[kTileM], shape.tokens) || !is_asked(p[kTileN], shape.rows) ||
        !is_asked(p[kTileK], shape.depth)) {
      continue;
    }
    if (p[kTileM] == kToChoose && !worth_a_forecast(p, shape, ring_tokens, gpu)) continue;
    Problem tile = p;
    tile[kTileM] = shape.tokens, tile[kTileN] = shape.rows, tile[kTileK] = shape.depth;
    add_splits(found, tile, shape, gpu);
  }
  if (found.empty()) (void)shape_of(p, gpu);  // which says what there is
  return found;
}

}  // namespace roofcast::gemm::tensor
