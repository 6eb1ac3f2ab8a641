// gemm.mma_sync: each warp multiplies for itself. With cp.async there is one block a tile; with TMA
// blocks are persistent.
#include <algorithm>
#include <span>
#include <utility>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm::tensor {
namespace {

std::span<const MmaTile> tiles_for(const Problem& p) {
  if (p.dtype == DType::int8) return kMmaInt8Tiles;
  if (mma_sync_along_k(p.dtype)) return kMmaAlongKTiles;
  return kMmaTiles;
}

/// `persistent`: blocks are persistent and copy by TMA, as in the code for GPUs with wgmma.
std::int64_t shared_bytes_of(const MmaTile& tile, DType type, bool persistent) {
  return persistent ? tile.persistent_shared_bytes(element_bytes(result_type(type)))
                    : tile.shared_bytes();
}

const MmaTile& tile_of(const Problem& p) {
  const std::string why = overflowing_sums(p);
  require(why.empty(), why);
  return find_tile("gemm.mma_sync", name(p.dtype), tile_in(p), tiles_for(p),
                   [&](const MmaTile& one) { return shape_of(one, p.dtype); });
}

// Blocks resident on an SM, by shared memory and registers; 1 where no occupancy rules are known.
std::int64_t resident_blocks(const Launch& launch, const Gpu& gpu) {
  if (!gpu.occupancy) return 1;
  constexpr std::int64_t kRegisterUnit = 8;  // allocation granularity, registers a thread
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t registers = round_up(launch.registers, kRegisterUnit);
  const std::int64_t by_registers = rules.registers_per_sm / (registers * launch.threads());
  const std::int64_t by_shared =
      rules.shared_bytes_per_sm / (launch.shared_bytes + rules.shared_reserved_bytes_per_block);
  return std::max<std::int64_t>(1, std::min(by_registers, by_shared));
}

Launch launch_of(const TiledProduct& c, const MmaTile& tile, bool persistent, const Gpu& gpu) {
  const bool transposed_b = mma_sync_along_k(c.p.dtype) || c.p[kTransposedB] != 0;
  Launch launch{.grid = {c.down() * c.across, c.p[kBatch], 1},
                .block = {tile.threads(), 1, 1},
                .registers = registers_of("gemm::mma_kernel", c.p.dtype, tile, transposed_b),
                .shared_bytes = shared_bytes_of(tile, c.p.dtype, persistent)};
  if (persistent) {
    launch.grid = {std::min(c.tiles(), gpu.slots(resident_blocks(launch, gpu))), 1, 1};
  }
  return launch;
}

// Sectors of element-wise stores of C; 0 where a lane stores 16 bytes. Where rows are not aligned
// to 16 bytes, a sector store carries two 2-byte elements: 8 times the bytes of C.
double sectors_by_element(const TiledProduct& c) {
  if (c.s.result != 2 || stored_c(c.p).row * 2 % kVectorBytes == 0) return 0;
  return c.s.batch * c.s.outputs() / 2;
}

}  // namespace

Plan mma_sync_launch(const TiledProduct& c, const MmaTile& tile, bool persistent,
                     const Operands& operands, const ArrayUse& result, const Gpu& gpu) {
  // Epilogue instructions of a warp, and of an accumulator: zeroed, converted, staged, stored.
  constexpr double kOfWarp = 400, kOfSum = 6;
  Plan plan =
      c.plan({Instruction::mma_sync, persistent ? Instruction::bulk_copy : Instruction::cp_async},
             launch_of(c, tile, persistent, gpu));
  if (persistent) plan.scheduler = TileScheduler::persistent;
  plan.arrays = {operands.a.use, operands.b.use, result};
  const double tiles = as_double(c.tiles()), scattered = sectors_by_element(c);
  Step store;
  store.warp_instructions = (kOfWarp * as_double(tile.threads()) + kOfSum * c.area()) / kWarpLanes;
  const double stored = scattered > 0 ? scattered * kSectorBytes : c.s.c();
  set_traffic(store.issued, {0, stored / tiles});
  store.wavefronts.l1 = scattered / tiles;
  set_mma_loop(plan, c, tile, operands, store);
  return plan;
}

LaunchSequence plan_mma_sync(const Problem& p, const Gpu& gpu) {
  const MmaTile& tile = tile_of(p);
  const TiledProduct c(p);
  const Operands operands = operands_of(p, mma_sync_along_k(p.dtype), tile.k_bytes);
  Plan plan = mma_sync_launch(c, tile, gpu.features.has(Instruction::wgmma), operands,
                              writes_tiles(c.s.c()), gpu);
  plan.raster = c.raster();
  if (plan.raster) plan.raster->group_rows = std::min(kMmaGroupRows, c.down());
  return with_copies(operands, std::move(plan));
}

std::vector<Problem> mma_sync_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  const bool persistent = gpu.features.has(Instruction::wgmma);
  std::vector<Problem> found;
  for (const MmaTile& tile : tiles_for(p)) {
    const TileShape shape = shape_of(tile, p.dtype);
    if (!shape.is_asked_by(p)) continue;
    // A requested tile that does not fit stays: the occupancy check refuses it.
    const bool fits = !gpu.occupancy || shared_bytes_of(tile, p.dtype, persistent) <=
                                            gpu.occupancy->shared_bytes_per_block;
    if (p[kTileM] == kToChoose && !fits) continue;
    found.push_back(shape.chosen_in(p));
  }
  if (found.empty()) (void)tile_of(p);  // throws, listing the tiles
  return found;
}

}  // namespace roofcast::gemm::tensor
