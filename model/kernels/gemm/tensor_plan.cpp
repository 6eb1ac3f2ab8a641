#include "model/kernels/gemm/tensor_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace roofcast::gemm::tensor {

Sizes::Sizes(const Problem& p)
    : m(as_double(p[kM])),
      n(as_double(p[kN])),
      k(as_double(p[kK])),
      batch(as_double(std::max<std::int64_t>(1, p[kBatch]))),
      element(size_bytes(p.dtype)),
      result(size_bytes(result_type(p.dtype))) {
  const std::string why = overlapping_rows(p);
  require(why.empty(), why);
}

Work product_work(const Problem& p) {
  const Sizes s(p);
  Work work{.compulsory = {s.a() + s.b(), s.c()}};
  work.tensor_flops[p.dtype] = s.flops();
  return work;
}

double sectors_share(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  return units_of_piece(piece_bytes, pitch_bytes, kSectorBytes) * kSectorBytes /
         as_double(piece_bytes);
}

double off_sector_share(std::int64_t pitch_bytes) {
  return units_of_piece(kSectorBytes, pitch_bytes, kSectorBytes) - 1;
}

PieceStores::PieceStores(double bytes, std::int64_t piece_bytes, std::int64_t pitch_bytes)
    : sectors(bytes / kSectorBytes * sectors_share(piece_bytes, pitch_bytes)),
      merged(bytes / as_double(piece_bytes) *
             units_of_piece(piece_bytes, pitch_bytes, kTileLineBytes) *
             off_sector_share(pitch_bytes)) {}

double coalesced_share(std::int64_t pitch_bytes) {
  constexpr double kOffLines = 0.5;
  if (pitch_bytes % kTileLineBytes == 0) return 1;
  return pitch_bytes % kSectorBytes == 0 ? kOffLines : 0;
}

ArrayUse writes_tiles(double bytes) {
  ArrayUse use = writes(kC, bytes);
  use.pattern.write_run_bytes = as_double(kTileLineBytes);
  use.pattern.blocks_to_next_run = std::numeric_limits<double>::infinity();
  return use;
}

// Where rows do not begin at lines, a piece shares its first and last line with its neighbours.
// Pieces of 128 bytes in tiles of 64 to 128 rows move at 0.90 of a stream's rate where rows begin
// at lines, at 0.82 and 0.80 where rows begin at odd multiples of 64 and 16 bytes. TMA requests 64
// bytes at a time from L2, but single sectors where a piece begins within a sector (one SM, clocks
// per 128 bytes: 1.61, 2.03 and 3.00 where rows begin at multiples of 128, 32 and 16).
Operands::Side::Side(const ArrayUse& use_of, std::int64_t pitch_bytes, std::int64_t piece_bytes)
    : use(use_of),
      sectors(sectors_share(piece_bytes, pitch_bytes)),
      coalesced(coalesced_share(pitch_bytes)) {
  const double off = off_sector_share(pitch_bytes);
  requests = off * as_double(piece_bytes / kSectorBytes + 1) +
             (1 - off) * as_double(piece_bytes / (2 * kSectorBytes));
  if (pitch_bytes == 0) return;
  use.pattern.read_density = density_of_pieces(kTileLineBytes, pitch_bytes);
}

bool TileShape::is_asked_by(const Problem& p) const {
  return is_asked(p[kTileM], m) && is_asked(p[kTileN], n) && is_asked(p[kTileK], k) &&
         (!cluster || is_asked(p[kCluster], *cluster));
}

Problem TileShape::chosen_in(Problem p) const {
  p[kTileM] = m;
  p[kTileN] = n;
  p[kTileK] = k;
  if (cluster) p[kCluster] = *cluster;
  return p;
}

std::string TileShape::text() const {
  const std::string tile = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  return cluster ? tile + " in clusters of " + std::to_string(*cluster) : tile;
}

void check_split(std::string_view parameter, std::int64_t parts, std::string_view of_steps,
                 std::int64_t steps) {
  require(parts >= 1 && parts <= steps, parameter, " is ", parts, ": choose 1 to the ", of_steps,
          ", ", steps);
}

double TiledProduct::asked(const Operands& operands, double Operands::Side::*each,
                           std::int64_t times_across) const {
  return as_double(across) * down_bytes() * down_of(operands).*each +
         as_double(times_across * clusters_down) * across_bytes() * across_of(operands).*each;
}

double TiledProduct::coalesced(const Operands& operands) const {
  if (cluster > 1) return 0;  // multicast: both blocks already share one copy
  const auto pairs = [](const Operands::Side& side, double bytes, std::int64_t blocks) {
    return bytes * side.sectors * side.coalesced * as_double(blocks / 2);
  };
  return pairs(down_of(operands), down_bytes(), across) +
         pairs(across_of(operands), across_bytes(), clusters_down);
}

std::optional<TileRaster> TiledProduct::raster() const {
  if (p[kBatch] > 1) return std::nullopt;
  TileRaster raster{.tile_rows = down(),
                    .tile_columns = across,
                    .row_panel_bytes = down_bytes() / as_double(down()),
                    .column_panel_bytes = across_bytes() / as_double(across)};
  if (columns_first(swap_ab, cluster)) {
    std::swap(raster.tile_rows, raster.tile_columns);
    std::swap(raster.row_panel_bytes, raster.column_panel_bytes);
  }
  return raster;
}

Plan TiledProduct::plan(std::vector<Instruction> needs, const Launch& launch) const {
  Plan plan;
  plan.needs = std::move(needs);
  product_flops(plan.useful, p.dtype) = s.flops();
  plan.launch = launch;
  plan.on_chip_bytes = area() * kPartBytes + as_double(launch.shared_bytes);
  return plan;
}

Step TiledProduct::step(double read_bytes) const {
  Step step;
  product_flops(step.issued, p.dtype) = 2 * area() * as_double(tile.k);
  set_traffic(step.issued, {read_bytes, 0});
  step.issued.shared_bytes = stage_bytes();
  return step;
}

// Warps read operands by ldmatrix, kMatricesBytes an instruction. cp.async, unlike TMA, also takes
// wavefronts, and for each 16 bytes of a thread kOfCopy instructions for address and bounds.
void set_mma_loop(Plan& plan, const TiledProduct& c, const MmaTile& tile, const Operands& operands,
                  const Step& end) {
  const bool by_tma = plan.uses(Instruction::bulk_copy);
  constexpr double kMatricesBytes = 512, kOfCopy = 17;
  constexpr double kOfStep = 80;  // waits, turns to copy, addresses; by the counters of nine tiles
  constexpr double kSumsOfProduct = 128, kBytesOfProduct = 32;  // mma.sync.m16n8, by bytes of k
  // A copy starts within a step, once all warps have read its stage, and is waited for within the
  // step before its use: a ring of S stages is S − 1.5 steps ahead.
  constexpr double kNotAhead = 1.5;
  const double read = c.asked(operands, &Operands::Side::sectors);
  const double steps = as_double(c.blocks()) * as_double(c.steps);
  plan.coalesced = {by_tma ? c.coalesced(operands) : 0, read - c.s.a() - c.s.b()};
  Step step = c.step(read / steps);
  const double operand_bytes =
      as_double((tile.m * tile.warps_across + tile.n * tile.warps_down) * tile.k_bytes);
  const double thread_copied = by_tma ? 0 : c.stage_bytes();
  step.wavefronts.operands = (operand_bytes + thread_copied) / kTileLineBytes;
  if (by_tma) {
    step.wavefronts.copies =
        c.asked(operands, &Operands::Side::requests) / as_double(tile.k_bytes) / steps;
  }
  const double products = c.area() / kSumsOfProduct * as_double(tile.k_bytes) / kBytesOfProduct;
  step.warp_instructions = products + operand_bytes / kMatricesBytes +
                           kOfStep * warps_of(tile.threads()) +
                           kOfCopy * thread_copied / as_double(kVectorBytes * kWarpLanes);
  // A step waits for its tiles, the first operands from shared memory and the first product. A warp
  // alone on its scheduler also waits for later operands; with two, the other one multiplies then.
  constexpr std::int64_t kSchedulers = 4;
  const bool alone = tile.threads() / kWarpLanes <= kSchedulers;
  step.waits = {
      .tile_loads = 1, .shared = alone ? 4.0 : 2.0, .arithmetic = kProductWaits, .barriers = 1};
  const Phase loop{step, as_double(c.steps), tile.stages - kNotAhead, 0, kUnrolledProducts};
  plan.blocks.push_back({c.blocks(), {loop, {end}}});
}

}  // namespace roofcast::gemm::tensor
