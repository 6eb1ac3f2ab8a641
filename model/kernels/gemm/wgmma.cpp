// gemm.wgmma: TMA copies, warpgroups (four warps) multiply, blocks are persistent.
#include <algorithm>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::tensor {
namespace {

constexpr auto kAllTiles = [] {
  std::array<WgmmaTile, kWgmmaTiles.size() + kWgmmaSwapAbTiles.size()> all{};
  std::copy(kWgmmaSwapAbTiles.begin(), kWgmmaSwapAbTiles.end(),
            std::copy(kWgmmaTiles.begin(), kWgmmaTiles.end(), all.begin()));
  return all;
}();

std::span<const WgmmaTile> tiles_for(const Problem& p) {
  if (wgmma_along_k(p.dtype)) return kWgmmaAlongKTiles;
  if (p[kTransposedB] == 0) return kWgmmaTiles;
  return kAllTiles;
}

TileShape shape_of(const WgmmaTile& tile, DType type) {
  return {tile.m, tile.n, kTileLineBytes / element_bytes(type), tile.cluster};
}

/// The product and its tile.
struct Choice : TiledProduct {
  WgmmaTile one;
  std::int64_t split;  ///< tail split-K: tiles of the last round that are split

  Choice(const Problem& p, const WgmmaTile& tile, const Gpu& gpu)
      : TiledProduct(p, shape_of(tile, p.dtype), tile.swap_ab),
        one(tile),
        split(p[kSplitRest] > 1 ? tiles() % gpu.slots(1) : 0) {}

  /// k-slabs of each part of a split tile, and of all tiles and parts of the launch.
  std::int64_t tail_steps() const { return ceil_div(steps, p[kSplitRest]); }
  double all_steps() const {
    return as_double(blocks() - split) * as_double(steps) +
           as_double(split * p[kSplitRest] * tail_steps());
  }
  /// Warpgroups that multiply a tile.
  double groups() const { return one.ping_pong ? 1 : one.consumers; }
  /// Bytes of a tile's partial sums; the block with the last part adds the others' to its own.
  double sums_bytes() const { return area() * kPartBytes; }
};

// Throws InputError where there is no such tile or no such split.
Choice choice_of(const Problem& p, const Gpu& gpu) {
  TileShape asked = tile_in(p);
  asked.cluster = p[kCluster];
  const WgmmaTile& tile = find_tile("gemm.wgmma", name(p.dtype), asked, tiles_for(p),
                                    [&](const WgmmaTile& one) { return shape_of(one, p.dtype); });
  const std::int64_t steps = ceil_div(p[kK], asked.k);
  check_split("split_k", p[kSplitK], "tiles of k", steps);
  check_split("split_rest", p[kSplitRest], "tiles of k", steps);
  require(p[kSplitK] <= 1 || p[kSplitRest] <= 1, kOneSplit);
  return {p, tile, gpu};
}

Launch launch_of(const Choice& c, const Gpu& gpu) {
  const WgmmaTile& tile = c.one;
  const std::int64_t clusters = std::max<std::int64_t>(1, gpu.slots(1) / c.cluster);
  const std::int64_t parts = c.tiles() * std::max(c.p[kSplitK], c.p[kSplitRest]);
  return {.grid = {std::min(parts, clusters * c.cluster), 1, 1},
          .block = {tile.threads(), 1, 1},
          .cluster = {c.cluster, 1, 1},
          .registers = tile.registers(),
          .shared_bytes = tile.shared_bytes()};
}

// Operand bytes delivered to all blocks, k in whole steps; each block of a cluster counts.
double box_bytes(const Choice& c, const Operands& operands) {
  return c.asked(operands, &Operands::Side::sectors, c.cluster) / c.s.k *
         as_double(c.parts() * c.steps * c.tile.k);
}

// Operand bytes that L2 looks up: each multicast, and each pair of coalesced reads, once.
double lookup_bytes(const Choice& c, const Operands& operands) {
  return c.asked(operands, &Operands::Side::sectors) - c.coalesced(operands);
}

/// The epilogue of a tile: how C, or split-K's partial sums, are stored.
struct Stores {
  Step step;
  double merged;  ///< partial writes of the launch, which L2 merges (AccessPattern::partial_writes)
};

// TMA stores C in lines, panel by panel, with a barrier of the warpgroup before and after; a block
// ends when its last stores have arrived. Threads store C whose rows are not aligned to 16 bytes,
// one element per lane: its address in shared memory, the load, a test, its address and the store.
// Threads also store partial sums, 32 bytes of each of eight rows at once, in pairs or, where rows
// are not aligned to pairs, one by one.
Stores stores_of(const Choice& c) {
  constexpr double kOfLanes = 8;  // instructions for an element of each lane
  const bool parts = c.parts() > 1;
  const auto size = static_cast<std::int64_t>(c.s.result);
  const std::int64_t pitch = parts ? c.p[kN] * kPartBytes : stored_c(c.p).row * size;
  const bool by_lanes = !parts && pitch % kVectorBytes != 0, by_boxes = !parts && !by_lanes;
  const std::int64_t piece = parts ? kSectorBytes : by_lanes ? kWarpLanes * size : kTileLineBytes;
  const double bytes = parts ? c.partial_bytes() : c.s.c(), tiles = as_double(c.blocks());
  const double times = parts && pitch % (2 * kPartBytes) != 0 ? 2 : 1;
  const PieceStores pieces(bytes, piece, pitch);
  const double sectors = times * pieces.sectors;
  Step step;
  step.issued.requested = {0, bytes / tiles};
  step.issued.l1 = step.issued.l2 = {0, sectors * kSectorBytes / tiles};
  step.warp_instructions =
      end_instructions(c.area()) + (by_lanes ? kOfLanes * c.area() / kWarpLanes : 0);
  if (!by_boxes) step.wavefronts.l1 = sectors / tiles;
  const double panels =
      c.area() * c.s.result / c.groups() / as_double(kTileLineBytes * c.one.panel_lines());
  if (!parts) step.waits = {.shared = panels, .barriers = 2 * panels};
  if (by_boxes) step.waits.tile_loads = 1;
  return {step, parts ? sectors : pieces.merged};
}

// Products a warpgroup has in flight: each is issued before the previous one has ended.
constexpr double kChains = 2;

Phase loop_of(const Choice& c, const Operands& operands) {
  const double steps = c.all_steps();
  Step step = c.step(box_bytes(c, operands) / steps);
  // An instruction reads 64 rows of one operand and all columns of the other from shared memory.
  step.wavefronts.operands = as_double(c.one.down() / 64 * (64 + c.one.across()));
  step.wavefronts.copies = c.asked(operands, &Operands::Side::requests) / kTileLineBytes / steps;
  step.waits = {.tile_loads = 1, .shared = 1, .barriers = 1};
  return {step, as_double(c.steps), as_double(c.one.stages - 1), c.groups(), kChains};
}

// The epilogue of a part of a split tile, except its last part: the partial sums go to memory.
Step partial_epilogue(const Choice& c) {
  Step leave;
  set_traffic(leave.issued, {0, c.sums_bytes()});
  leave.wavefronts.l1 = c.sums_bytes() / kTileLineBytes;
  return leave;
}

// The epilogue of a split tile's last part: once the other parts' sums are written and seen, the
// block loads them, one part at a time, four sums a load, adds them to its own and stores C.
Step reducing_epilogue(const Choice& c, Step store) {
  const double others = as_double(c.p[kSplitRest] - 1), bytes = others * c.sums_bytes();
  store.issued.requested.read_bytes = store.issued.l1.read_bytes = store.issued.l2.read_bytes =
      bytes;
  store.wavefronts.l1 += bytes / kTileLineBytes;
  store.warp_instructions += others * c.area() / kWarpLanes * (1 + 1.0 / 4);
  store.waits.global = others;
  store.waits.tile_loads = 2;
  return store;
}

// `store`: the epilogue of a whole tile.
Outline outline_of(const Choice& c, const Operands& operands, const Step& store) {
  Outline outline = {
      .blocks = c.blocks() - c.split,
      .scheduler = c.one.ping_pong ? TileScheduler::ping_pong : TileScheduler::persistent,
      .type = c.p.dtype,
      .warps = as_double(c.one.threads() / kWarpLanes),
      .loop = loop_of(c, operands),
      .end = store,
      .l2_read_bytes = lookup_bytes(c, operands),
      .operands = {operands.a.read(), operands.b.read()},
      .result_bytes = c.s.c(),
      .copies = operands.copies.size(),
      .launches = c.parts() > 1 ? 2.0 : 1.0,
      .reduction_bytes = c.partial_bytes(),
      .useful_flops = c.s.flops()};
  if (c.split > 0) {
    outline.tail = {c.split, c.p[kSplitRest], as_double(c.tail_steps()), partial_epilogue(c),
                    reducing_epilogue(c, store)};
  }
  return outline;
}

Plan main_launch(const Choice& c, const Operands& operands, const Gpu& gpu) {
  const Stores stores = stores_of(c);
  const Outline brief = outline_of(c, operands, stores.step);
  Plan plan = c.plan({Instruction::bulk_copy, Instruction::wgmma}, launch_of(c, gpu));
  plan.scheduler = brief.scheduler;
  const double boxes = box_bytes(c, operands);
  plan.coalesced = {boxes - brief.l2_read_bytes, boxes - c.s.a() - c.s.b()};
  plan.raster = c.raster();
  if (plan.raster) {
    plan.raster->group_rows = std::min(wgmma_group(plan.raster->tile_columns, plan.launch.grid[0]),
                                       plan.raster->tile_rows);
  }
  plan.arrays = {operands.a.use, operands.b.use};
  if (c.parts() == 1) plan.arrays.push_back(writes_tiles(c.s.c()));
  const double sums =
      c.partial_bytes() + as_double(c.split * (c.p[kSplitRest] - 1)) * c.sums_bytes();
  if (sums > 0) plan.arrays.push_back(scratch(kParts, {0, sums}));
  plan.arrays.back().pattern.partial_writes = stores.merged;

  Phase loop = brief.loop;
  if (brief.blocks > 0) plan.blocks.push_back({brief.blocks, {loop, {brief.end}}});
  if (const auto& tail = brief.tail) {
    loop.repeats = tail->steps;
    plan.blocks.push_back({tail->blocks() - tail->tiles, {loop, {tail->partial_end}}});
    plan.blocks.push_back({tail->tiles, {loop, {tail->reducing_end}}});
  }
  return plan;
}

// Tail split-K factors worth a forecast where split_k splits no tile: the parts fill one round, or
// more rounds in less time.
std::vector<std::int64_t> tail_splits(const Choice& c, const Gpu& gpu) {
  constexpr std::int64_t kMost = 12, kLeastSteps = 3, kMostRounds = 4;
  constexpr double kWorthIt = 0.03;  // least gain, in rounds of whole tiles
  if (c.p[kSplitRest] != kToChoose) return {c.p[kSplitRest]};
  std::vector<std::int64_t> found = {1};
  const std::int64_t slots = gpu.slots(1), rest = c.tiles() % slots;
  // No tail split-K where split_k is given, or where the last round is full.
  if (c.p[kSplitK] != kToChoose || rest == 0) return found;
  const std::int64_t most = std::min(kMost, c.steps / kLeastSteps);
  double best = 1;
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    const std::int64_t parts = rounds * slots / rest;
    const double time = as_double(rounds) / as_double(parts);
    if (parts > most) break;
    if (parts < 2 || time > best - kWorthIt) continue;
    found.push_back(parts);
    best = time;
  }
  return found;
}

}  // namespace

LaunchSequence plan_wgmma(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p, gpu);
  const Operands operands = operands_of(p, wgmma_along_k(p.dtype));
  LaunchSequence sequence = with_copies(operands, main_launch(c, operands, gpu));
  if (p[kSplitK] > 1) sequence.push_back({sum_of_parts(p)});
  return sequence;
}

std::vector<Problem> wgmma_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  (void)Sizes(p);  // throws where rows overlap
  std::vector<Problem> found;
  found.reserve(2 * kAllTiles.size());
  for (const WgmmaTile& tile : tiles_for(p)) {
    const TileShape shape = shape_of(tile, p.dtype);
    if (!shape.is_asked_by(p)) continue;
    // With one tile down, the second block of a cluster would have nothing to compute.
    const Choice whole(p, tile, gpu);
    if (p[kCluster] == kToChoose && tile.cluster > 1 &&
        (tile.swap_ab ? p[kN] : p[kM]) <= tile.down()) {
      continue;
    }
    Problem one = shape.chosen_in(p);
    const std::int64_t blocks = p[kBatch] * ceil_div(p[kM], tile.m) * ceil_div(p[kN], tile.n);
    for (const std::int64_t split :
         splits_of(p[kSplitK], ceil_div(p[kK], shape.k), blocks, 2 * gpu.slots(1))) {
      // No split-K of all tiles with swap_ab tiles, or where split_rest is given.
      if (p[kSplitK] == kToChoose && split > 1 && (tile.swap_ab || p[kSplitRest] > 1)) break;
      one[kSplitK] = split;
      one[kSplitRest] = std::max<std::int64_t>(1, p[kSplitRest]);
      if (split > 1) {
        found.push_back(one);
        continue;
      }
      for (const std::int64_t rest : tail_splits(whole, gpu)) {
        found.emplace_back(one)[kSplitRest] = rest;
      }
    }
  }
  if (found.empty()) (void)choice_of(p, gpu);  // throws, listing the tiles
  return found;
}

std::vector<Outline> wgmma_outlines(std::span<const Problem> candidates, const Gpu& gpu) {
  const Problem& first = candidates.front();
  const Operands operands = operands_of(first, wgmma_along_k(first.dtype));  // of all candidates
  std::vector<Outline> found;
  found.reserve(candidates.size());
  for (const Problem& p : candidates) {
    const Choice c = choice_of(p, gpu);
    found.push_back(outline_of(c, operands, stores_of(c).step));
  }
  return found;
}

}  // namespace roofcast::gemm::tensor
