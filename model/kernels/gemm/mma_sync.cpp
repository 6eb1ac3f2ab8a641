// gemm.mma_sync: copies run ahead, each warp multiplies by itself. With cp.async there is a block a
// tile; with TMA, on Hopper, blocks stay and take tile after tile.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_models.hpp"

namespace roofcast::gemm::tensor {
namespace {

std::span<const MmaTile> tiles_for(const Problem& p) {
  if (p.dtype == DType::int8) return kMmaInt8Tiles;
  if (mma_sync_along_k(p.dtype)) return kMmaAlongKTiles;
  return kMmaTiles;
}

/// Whether blocks stay: the code for compute capability 9.0, which alone has wgmma, copies by TMA.
bool blocks_stay(const Gpu& gpu) {
  return gpu.features.has(Instruction::wgmma);
}
std::int64_t shared_bytes_of(const MmaTile& tile, DType type, bool stays) {
  return stays ? tile.staying_shared_bytes(element_bytes(result_type(type))) : tile.shared_bytes();
}

/// The product and its tile.
struct Choice {
  Problem p;
  Sizes s;
  MmaTile tile;
  bool stays = false;  ///< blocks do

  std::int64_t depth() const { return tile.k_bytes / element_bytes(p.dtype); }
  std::int64_t down() const { return ceil_div(p[kM], tile.m); }
  std::int64_t across() const { return ceil_div(p[kN], tile.n); }
  std::int64_t tiles() const { return p[kBatch] * down() * across(); }
  double steps() const { return as_double(ceil_div(p[kK], depth())); }
  double area() const { return as_double(tile.m * tile.n); }
  double warps() const { return as_double(tile.threads() / kWarpLanes); }
};

Choice choice_of(const Problem& p, const Gpu& gpu) {
  if (const std::string why = overflowing_sums(p); !why.empty()) throw InputError(why);
  const std::int64_t size = element_bytes(p.dtype);
  const auto tiles = tiles_for(p);
  const auto found = std::find_if(tiles.begin(), tiles.end(), [&](const MmaTile& one) {
    return one.m == p[kTileM] && one.n == p[kTileN] && one.k_bytes / size == p[kTileK];
  });
  if (found != tiles.end()) return {p, Sizes(p), *found, blocks_stay(gpu)};
  std::string known;
  for (const MmaTile& one : tiles) {
    known += (known.empty() ? "" : ", ") + std::to_string(one.m) + "x" + std::to_string(one.n) +
             "x" + std::to_string(one.k_bytes / size);
  }
  throw InputError("gemm.mma_sync has no tile " + std::to_string(p[kTileM]) + "x" +
                   std::to_string(p[kTileN]) + "x" + std::to_string(p[kTileK]) + " for " +
                   std::string(name(p.dtype)) + ": choose one of " + known);
}

// Of the operands of a step: warps read those of their own sums from shared memory.
double operand_bytes(const Choice& c) {
  const std::int64_t lines = c.tile.m * c.tile.warps_across + c.tile.n * c.tile.warps_down;
  return as_double(lines * c.tile.k_bytes);
}
double copied_bytes(const Choice& c) {
  return as_double((c.tile.m + c.tile.n) * c.tile.k_bytes);
}

// cp.async takes wavefronts to write shared memory, TMA none.
double operand_wavefronts(const Choice& c) {
  return (operand_bytes(c) + (c.stays ? 0 : copied_bytes(c))) / as_double(kTileLineBytes);
}

// Instructions of all warps for a step beside its products, which the rate of the tensor cores
// holds: ldmatrix, and where threads copy addresses and bounds of every 16 bytes.
double step_instructions(const Choice& c) {
  constexpr double kMatricesBytes = 512, kOfCopy = 17;
  const double copies = copied_bytes(c) / as_double(kVectorBytes * kWarpLanes);
  return operand_bytes(c) / kMatricesBytes + (c.stays ? 0 : kOfCopy * copies);
}
// The same for a tile beside its steps: sums set to zero, converted, staged in shared memory and
// stored.
double tile_instructions(const Choice& c) {
  constexpr double kOfWarp = 400, kOfSum = 6;
  return kOfWarp * c.warps() + kOfSum * c.area() / as_double(kWarpLanes);
}

// Of the operands that blocks copy, so much of each piece: every tile column reads A once and every
// tile row B, as far as they exist.
double copied(const Choice& c, const Operands& operands, double Operands::Side::*each) {
  return as_double(c.across()) * c.s.a() * operands.a.*each +
         as_double(c.down()) * c.s.b() * operands.b.*each;
}

// Their sectors, as bytes.
double copied_sectors(const Choice& c, const Operands& operands) {
  return copied(c, operands, c.stays ? &Operands::Side::sectors : &Operands::Side::of_pair);
}

// By how many requests of the copy engine.
double copy_requests(const Choice& c, const Operands& operands) {
  return copied(c, operands, &Operands::Side::requests) / as_double(c.tile.k_bytes);
}

// Of those sectors, what L2 looks up for another block at the same time.
double joined_sectors(const Choice& c, const Operands& operands, const Gpu& gpu) {
  if (!c.stays) return 0;
  const double steps = as_double(c.tiles()) * c.steps() / as_double(gpu.slots(1));
  const double in_step = in_step_share(steps);
  return c.s.a() * joined_blocks(operands.a, c.across(), in_step) +
         c.s.b() * joined_blocks(operands.b, c.down(), in_step);
}

// C goes out 16 bytes a lane, or by elements where its rows are not aligned to that. Those of 2
// bytes reach L2 one by one, a warp's each in a sector of two lanes: 8 times the bytes of C. Those
// of 4 bytes are joined before.
double sectors_by_element(const Choice& c) {
  if (c.s.result != 2 || stored_c(c.p).row * 2 % kVectorBytes == 0) return 0;
  return c.s.batch * c.s.m * c.s.n / 2;
}

Launch launch_of(const Choice& c, const Gpu& gpu) {
  Launch launch;
  launch.block[0] = c.tile.threads();
  const bool transposed_b = mma_sync_along_k(c.p.dtype) || c.p[kTransposedB] != 0;
  launch.registers = compiled::registers(
      "gemm::mma_kernel", c.p.dtype, c.tile.m, c.tile.n, c.tile.k_bytes / element_bytes(c.p.dtype),
      c.tile.warps_down, c.tile.warps_across, c.tile.stages, c.tile.blocks, transposed_b);
  launch.shared_bytes = shared_bytes_of(c.tile, c.p.dtype, c.stays);
  if (c.stays) {
    launch.grid[0] = std::min(c.tiles(), gpu.slots(resident_blocks(launch, gpu)));
  } else {
    launch.grid = {c.down() * c.across(), c.p[kBatch], 1};
  }
  return launch;
}

// Absent for a batch: the tiles of another product share no operand.
std::optional<TileRaster> raster_of(const Choice& c) {
  if (c.p[kBatch] > 1) return std::nullopt;
  return TileRaster{.tile_rows = c.down(),
                    .tile_columns = c.across(),
                    .group_rows = std::min(kMmaGroupRows, c.down()),
                    .row_panel_bytes = c.s.a() / as_double(c.down()),
                    .column_panel_bytes = c.s.b() / as_double(c.across())};
}

Plan main_launch(const Choice& c, const Operands& operands, const ArrayUse& result,
                 const Gpu& gpu) {
  Plan plan;
  plan.needs = {Instruction::mma_sync, c.stays ? Instruction::bulk_copy : Instruction::cp_async};
  if (c.stays) plan.scheduler = TileScheduler::persistent;
  plan.compute = c.p.dtype;
  plan.useful.tensor_flops[c.p.dtype] = c.s.flops();
  plan.launch = launch_of(c, gpu);
  plan.arrays = {operands.a.use, operands.b.use, result};
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  const double tiles = as_double(c.tiles()), steps = tiles * c.steps();
  const double read = copied_sectors(c, operands);
  plan.joined = {joined_sectors(c, operands, gpu), read - c.s.a() - c.s.b()};
  Step step;
  step.issued.tensor_flops[c.p.dtype] = 2 * c.area() * as_double(c.depth());
  set_traffic(step.issued, {read / steps, 0});
  step.issued.shared_bytes = copied_bytes(c);
  step.wavefronts.operands = operand_wavefronts(c);
  if (c.stays) step.wavefronts.copies = copy_requests(c, operands) / steps;
  step.warp_instructions = step_instructions(c);
  step.waits = mma_waits(c.warps());
  Step store;
  store.warp_instructions = tile_instructions(c);
  const double scattered = sectors_by_element(c);
  set_traffic(store.issued,
              {0, (scattered > 0 ? scattered * as_double(kSectorBytes) : c.s.c()) / tiles});
  store.wavefronts.l1 = scattered / tiles;
  plan.blocks.push_back(
      {c.tiles(), {{step, c.steps(), copied_ahead(c.tile.stages), 0, kUnrolledProducts}, {store}}});
  return plan;
}

}  // namespace

LaunchSequence plan_mma_sync(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p, gpu);
  const bool along_k = mma_sync_along_k(p.dtype);
  LaunchSequence program = copies_before(p, along_k);
  Plan plan =
      main_launch(c, operands_of(p, along_k, c.tile.k_bytes), writes_tiles(kC, c.s.c()), gpu);
  plan.raster = raster_of(c);
  if (!program.empty()) plan.start = Start::code;
  program.push_back({std::move(plan)});
  return program;
}

Plan mma_sync_batch(const Problem& p, const MmaTile& tile, const Operands& operands,
                    const ArrayUse& result, const Gpu& gpu) {
  return main_launch({p, Sizes(p), tile}, operands, result, gpu);
}

std::vector<Problem> mma_sync_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  for (const MmaTile& tile : tiles_for(p)) {
    const std::int64_t depth = tile.k_bytes / element_bytes(p.dtype);
    if (!is_asked(p[kTileM], tile.m) || !is_asked(p[kTileN], tile.n) ||
        !is_asked(p[kTileK], depth)) {
      continue;
    }
    // One that is asked for and does not fit is refused by its occupancy.
    const bool fits = !gpu.occupancy || shared_bytes_of(tile, p.dtype, blocks_stay(gpu)) <=
                                            gpu.occupancy->shared_bytes_per_block;
    if (p[kTileM] == kToChoose && !fits) continue;
    Problem& one = found.emplace_back(p);
    one[kTileM] = tile.m, one[kTileN] = tile.n, one[kTileK] = depth;
  }
  if (found.empty()) (void)choice_of(p, gpu);  // which says what there is
  return found;
}

}  // namespace roofcast::gemm::tensor
