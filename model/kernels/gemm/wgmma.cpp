// gemm.wgmma: TMA copies, four warps multiply together, blocks stay and take tile after tile.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_models.hpp"
#include "model/kernels/gemm/tiles.hpp"
#include "model/kernels/gemm/wgmma_traffic.hpp"

namespace roofcast::gemm::tensor {
namespace {

using wgmma::box_bytes, wgmma::by_threads, wgmma::copy_requests, wgmma::lookup_bytes,
    wgmma::merged_stores, wgmma::stored_sectors;
using wgmma::Choice, wgmma::choice_of, wgmma::depth_of, wgmma::Sides, wgmma::sides_of,
    wgmma::tiles_for, wgmma::Written, wgmma::written;

// Wavefronts of the operands of a step: an instruction reads 64 rows of one and all columns of the
// other from shared memory.
double operand_wavefronts(const Choice& c) {
  return as_double(c.tile.down() / 64 * (64 + c.tile.across()));
}

Launch launch_of(const Choice& c, const Gpu& gpu) {
  Launch launch;
  const std::int64_t clusters =
      std::max<std::int64_t>(1, gpu.sm_count.value_or(1) / c.tile.cluster);
  const std::int64_t parts = std::max(c.p[kSplitK], c.p[kSplitRest]);
  launch.grid[0] = std::min(c.tiles() * parts, clusters * c.tile.cluster);
  launch.block[0] = c.tile.threads();
  launch.cluster[0] = c.tile.cluster;
  const bool transposed_b = wgmma_along_k(c.p.dtype) || c.p[kTransposedB] != 0;
  launch.registers =
      compiled::registers("gemm::wgmma_kernel", c.p.dtype, c.tile.down(), c.tile.across(),
                          c.tile.stages, c.tile.consumers, c.tile.cluster, c.tile.ping_pong,
                          transposed_b, c.tile.turned, c.tile.panel_lines());
  launch.shared_bytes = c.tile.shared_bytes();
  return launch;
}

// Absent for a batch: the tiles of another product share no operand.
std::optional<TileRaster> raster_of(const Choice& c, const Operands& operands, const Gpu& gpu) {
  if (c.p[kBatch] > 1) return std::nullopt;
  const std::int64_t down = c.clusters_down() * c.tile.cluster, blocks = launch_of(c, gpu).grid[0];
  const Sides sides = sides_of(c, operands);
  // TileRaster takes group_rows rows first: where blocks go along an instruction's columns first,
  // those are its rows.
  const bool across_first = columns_first(c.tile.turned, c.tile.cluster);
  const std::int64_t rows = across_first ? c.across() : down;
  const std::int64_t columns = across_first ? down : c.across();
  const double of_down = sides.down_bytes / as_double(down);
  const double of_across = sides.across_bytes / as_double(c.across());
  return TileRaster{.tile_rows = rows,
                    .tile_columns = columns,
                    .group_rows = std::min(wgmma_group(columns, blocks), rows),
                    .row_panel_bytes = across_first ? of_across : of_down,
                    .column_panel_bytes = across_first ? of_down : of_across};
}

/// Steps of all tiles, the parts of the last round's among them.
double all_steps(const Choice& c, const Gpu& gpu) {
  const std::int64_t split = c.split_tiles(gpu);
  const std::int64_t part_steps = ceil_div(c.steps(), c.p[kSplitRest]);
  return as_double(c.tiles() * c.p[kSplitK] - split) * as_double(c.steps()) +
         as_double(split * c.p[kSplitRest] * part_steps);
}

// Warpgroups that multiply one tile, beside one that copies.
double groups_of(const Choice& c) {
  constexpr std::int64_t kWarpgroup = 128;
  return c.tile.ping_pong ? 1 : std::max(1.0, as_double(c.tile.threads() / kWarpgroup - 1));
}

// A product is issued before the one before it has ended.
constexpr double kChains = 2;

// Of a tile in parts: the sums of each but the last, bytes, which the last part's block adds to its
// own once they are written and seen.
constexpr double kJoinTileLoads = 2;
double sums_bytes(const Choice& c) {
  return c.area() * as_double(kPartBytes);
}
// To L2: a thread loads some of a part's sums at once.
double join_trips(const Choice& c) {
  const int fours = c.tile.fours_of_thread();
  return as_double((c.p[kSplitRest] - 1) * (fours / joined_together(fours)));
}

// Where threads store lines of a panel, each takes so many instructions of a warp, one after the
// other (wgmma_bf16.cu in SASS).
constexpr double kInstructionsOfLine = 23;

// Lines of panels of shared memory that a tile goes through.
double panel_lines(const Choice& c) {
  return c.area() * as_double(element_bytes(result_type(c.p.dtype))) / as_double(kTileLineBytes);
}

// A warpgroup writes its sums to one panel of shared memory after the other. TMA stores a panel:
// the warpgroup meets before it and behind it. Threads load each line again before they store it.
Waits waits_of_store(const Choice& c) {
  if (c.p[kSplitK] > 1) return {};
  const double lines = panel_lines(c) / groups_of(c);  // of a warpgroup
  const double panels = lines / as_double(c.tile.panel_lines());
  if (!by_threads(c)) return {.shared = panels, .barriers = 2 * panels};
  constexpr double kWarps = 4;
  return {.shared = panels + lines / kWarps, .arithmetic = lines / kWarps * kInstructionsOfLine};
}

// By a block, in sectors.
double stored_bytes(const Choice& c) {
  return stored_sectors(c) * as_double(kSectorBytes) / as_double(c.tiles() * c.p[kSplitK]);
}

// A block's tiles, and the parts of those of the last round: the block of a tile's last part waits
// until the others are written and seen, then adds one after the other.
void set_tiles(Plan& plan, const Choice& c, const Operands& operands, double box_bytes,
               const Written& to, const Gpu& gpu) {
  const double steps = all_steps(c, gpu);
  const double tiles = as_double(c.tiles() * c.p[kSplitK]);
  Step step;
  step.issued.tensor_flops[c.p.dtype] = 2 * c.area() * as_double(depth_of(c.p));
  set_traffic(step.issued, {box_bytes / steps, 0});
  step.issued.shared_bytes = as_double((c.tile.m + c.tile.n) * kTileLineBytes);
  step.wavefronts.operands = operand_wavefronts(c);
  step.wavefronts.copies = copy_requests(c, operands) / steps;
  step.waits = {.tile_loads = 1, .barriers = 1};
  const auto loop = [&](std::int64_t count) {
    return Phase{step, as_double(count), as_double(c.tile.stages - 1), groups_of(c), kChains};
  };
  Step store;
  set_traffic(store.issued, {0, (to.sums + to.direct) / tiles});
  store.issued.l1.write_bytes = store.issued.l2.write_bytes = stored_bytes(c);
  store.warp_instructions = end_instructions(c.area());
  if (by_threads(c)) {
    store.wavefronts.l1 = stored_bytes(c) / as_double(kSectorBytes);
    if (c.p[kSplitK] == 1) store.warp_instructions += kInstructionsOfLine * panel_lines(c);
  }
  store.waits = waits_of_store(c);
  const std::int64_t split = c.split_tiles(gpu), parts = c.p[kSplitRest];
  if (c.tiles() > split) {
    plan.blocks.push_back({c.tiles() * c.p[kSplitK] - split, {loop(c.steps()), {store}}});
  }
  if (split == 0) return;
  const std::int64_t part_steps = ceil_div(c.steps(), parts);
  Step leave;
  set_traffic(leave.issued, {0, sums_bytes(c)});
  Step join = store;
  join.issued.requested.read_bytes = join.issued.l1.read_bytes = join.issued.l2.read_bytes =
      as_double(parts - 1) * sums_bytes(c);
  join.waits = {.global = join_trips(c), .tile_loads = kJoinTileLoads};
  plan.blocks.push_back({split * (parts - 1), {loop(part_steps), {leave}}});
  plan.blocks.push_back({split, {loop(part_steps), {join}}});
}

Plan main_launch(const Choice& c, const Operands& operands, const Gpu& gpu) {
  Plan plan;
  plan.needs = {Instruction::bulk_copy, Instruction::wgmma};
  plan.compute = c.p.dtype;
  plan.useful.tensor_flops[c.p.dtype] = c.s.flops();
  plan.scheduler = c.tile.ping_pong ? TileScheduler::ping_pong : TileScheduler::persistent;
  plan.launch = launch_of(c, gpu);
  const Written to = written(c, gpu);
  const double boxes = box_bytes(c, operands);
  plan.joined = {boxes - lookup_bytes(c, operands, gpu), boxes - c.s.a() - c.s.b()};
  plan.raster = raster_of(c, operands, gpu);
  plan.arrays = {operands.a.use, operands.b.use};
  if (to.direct > 0) plan.arrays.push_back(writes_tiles(kC, to.direct));

  if (to.sums + to.joined > 0) {
    plan.arrays.push_back(scratch(kParts, {0, to.sums + to.joined}));
  }
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  plan.arrays.back().pattern.partial_writes = merged_stores(c);
  set_tiles(plan, c, operands, boxes, to, gpu);
  return plan;
}

// Parts of k of the last round's tiles that are worth a forecast: as many as fill one round of
// blocks, or two or more, where these take less of a round's time together. A part is at least
// three steps long.
std::vector<std::int64_t> rest_splits(const Problem& asked, const Choice& c, const Gpu& gpu) {
  constexpr std::int64_t kMost = 12, kLeastSteps = 3, kMostRounds = 4;
  constexpr double kWorthIt = 0.03;  // of a round
  if (asked[kSplitRest] != kToChoose) return {asked[kSplitRest]};
  std::vector<std::int64_t> found = {1};
  const std::int64_t slots = gpu.slots(1), rest = c.tiles() % slots;
  // A split that is given is the only one; one of all tiles leaves none for the rest.
  if (asked[kSplitK] != kToChoose || c.p[kSplitK] > 1 || rest == 0) return found;
  const std::int64_t most = std::min(kMost, c.steps() / kLeastSteps);
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

LaunchSequence copies_before_wgmma(const Problem& p, const Gpu& /*gpu*/) {
  return copies_before(p, wgmma_along_k(p.dtype));
}

LaunchSequence plan_wgmma(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p);
  LaunchSequence program = copies_before_wgmma(p, gpu);
  Plan plan = main_launch(c, operands_of(p, wgmma_along_k(p.dtype)), gpu);
  if (!program.empty()) plan.start = Start::code;
  program.push_back({std::move(plan)});
  if (p[kSplitK] > 1) program.push_back({sum_of_parts(p)});
  return program;
}

std::vector<Problem> wgmma_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  const Sizes sizes(p);
  const auto tiles = tiles_for(p);
  constexpr std::size_t kUsual = 4;  // of a tile
  found.reserve(kUsual * tiles.size());
  for (const WgmmaTile& tile : tiles) {
    if (!is_asked(p[kTileM], tile.m) || !is_asked(p[kTileN], tile.n) ||
        !is_asked(p[kCluster], tile.cluster) || !is_asked(p[kTileK], depth_of(p))) {
      continue;
    }
    // The second block of a cluster would copy for nothing where there is one tile down.
    const Choice one_tile{p, sizes, tile};
    if (p[kCluster] == kToChoose && tile.cluster > 1 && one_tile.extent_down() <= tile.down()) {
      continue;
    }
    const std::int64_t blocks = p[kBatch] * ceil_div(p[kM], tile.m) * ceil_div(p[kN], tile.n);
    for (const std::int64_t split :
         splits_of(p[kSplitK], ceil_div(p[kK], depth_of(p)), blocks, 2 * gpu.slots(1))) {
      // Both splits to choose but the rest's: of all tiles there is one part.
      if (p[kSplitK] == kToChoose && p[kSplitRest] > 1 && split > 1) break;
      if (tile.turned && p[kSplitK] == kToChoose && split > 1) break;
      Problem one = p;
      one[kTileM] = tile.m, one[kTileN] = tile.n, one[kTileK] = depth_of(p);
      one[kSplitK] = split;
      one[kCluster] = tile.cluster;
      for (const std::int64_t rest : rest_splits(p, {one, sizes, tile}, gpu)) {
        one[kSplitRest] = rest;
        found.push_back(one);
      }
    }
  }
  if (found.empty()) (void)choice_of(p);  // which says what there is
  return found;
}

Outline wgmma_outline(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p);
  const Operands operands = operands_of(p, wgmma_along_k(p.dtype));
  const double steps = all_steps(c, gpu);
  const std::int64_t split = c.split_tiles(gpu), parts = p[kSplitRest];
  return {.blocks = c.tiles() * p[kSplitK] - split,
          .scheduler = c.tile.ping_pong ? TileScheduler::ping_pong : TileScheduler::persistent,
          .type = p.dtype,
          .warps = as_double(c.tile.threads() / kWarpLanes),
          .steps = as_double(c.steps()),
          .ahead = as_double(c.tile.stages - 1),
          .parts = groups_of(c) * kChains,
          .chains = kChains,
          .step_flops = 2 * c.area() * as_double(depth_of(p)),
          .step_operands = operand_wavefronts(c),
          .step_bytes = box_bytes(c, operands) / steps,
          .step_copies = copy_requests(c, operands) / steps,
          .stored_bytes = stored_bytes(c),
          .end_waits = waits_of_store(c),
          .looked_up_bytes = lookup_bytes(c, operands, gpu),
          .launches = p[kSplitK] > 1 ? 2.0 : 1.0,
          .summed_bytes = partial_bytes(p),
          .rest_blocks = split * parts,
          .rest_steps = as_double(ceil_div(c.steps(), parts)),
          .rest_stored_bytes = sums_bytes(c),
          .rest_joined_bytes = as_double(parts - 1) * sums_bytes(c),
          .rest_trips = join_trips(c),
          .rest_tile_loads = split > 0 ? kJoinTileLoads : 0,
          .useful_flops = c.s.flops()};
}

}  // namespace roofcast::gemm::tensor
