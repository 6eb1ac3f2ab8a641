#include "model/kernels/transpose.hpp"

#include <array>
#include <string>

#include "model/coalescing.hpp"
#include "model/io_complexity.hpp"
#include "model/row_segments.hpp"
#include "model/shared_banks.hpp"

namespace roofcast::transpose {
namespace {

enum class Way : unsigned char { naive, tiled, padded };

// Warp instructions by the SASS for sm_90a (2026-11-21): for each row of the tile that a warp
// moves, and besides.
constexpr double kInstructionsPerRow = 16;
constexpr double kInstructionsPerWarp = 40;

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

/// What a lane moves at a time, and the tile in those units.
struct Unit {
  std::int64_t bytes;       ///< of one element, or of a pair of two-byte elements
  std::int64_t tile_rows;   ///< of elements
  std::int64_t tile_units;  ///< along a row
};

Unit unit_of(const Problem& p, Way way) {
  const auto element = static_cast<std::int64_t>(size_bytes(p.dtype));
  const bool pairs = way != Way::naive && element == 2 && p[kRows] % 2 == 0 && p[kColumns] % 2 == 0;
  return pairs ? Unit{4, 2 * kLanes, kLanes} : Unit{element, kLanes, kLanes};
}

// Cycles of the data pipe for a tile: stored row by row, loaded down the columns.
double tile_wavefronts(const Unit& unit, std::int64_t pitch_units, bool pairs) {
  const double stores =
      as_double(unit.tile_rows) * as_double(shared_wavefronts(unit.bytes, unit.bytes));
  const std::int64_t rows_between_lanes = pairs ? 2 : 1;
  const double loads =
      as_double(rows_between_lanes * unit.tile_units) *
      as_double(shared_wavefronts(rows_between_lanes * pitch_units * unit.bytes, unit.bytes));
  return stores + loads;
}

template <Way kWay>
Plans plan(const Problem& p, const Gpu& /*gpu*/) {
  const auto element = static_cast<std::int64_t>(size_bytes(p.dtype));
  const Unit unit = unit_of(p, kWay);
  const bool pairs = unit.bytes != element;
  const std::int64_t columns_of_tile = unit.tile_units * unit.bytes / element;
  const DenseMatrix x{p[kRows], p[kColumns] * element / unit.bytes, unit.bytes};
  const DenseMatrix y{p[kColumns], p[kRows] * element / unit.bytes, unit.bytes};
  const double bytes = as_double(p[kRows] * p[kColumns] * element);
  const double load_sectors = sectors_along_rows(x);
  const double store_sectors = kWay == Way::naive ? sectors_down_columns(y) : sectors_along_rows(y);

  Plan plan;
  plan.launch.grid = {(p[kColumns] + columns_of_tile - 1) / columns_of_tile,
                      (p[kRows] + unit.tile_rows - 1) / unit.tile_rows, 1};
  plan.launch.block = {kLanes, kWarps, 1};
  plan.launch.registers = kWay != Way::naive ? 30 : element == 8 ? 28 : 26;
  const double blocks = as_double(plan.launch.blocks());
  Work& work = plan.total;
  work.requested = work.compulsory = work.touched = {bytes, bytes};
  work.l1 = work.l2 = {load_sectors * kSectorBytes, store_sectors * kSectorBytes};

  Step& once = plan.block.once;
  plan.block.steps = 0;
  once.l2_bytes = work.l2.total_bytes() / blocks;
  once.global_round_trips = 1;
  const double rows_moved = as_double(unit.tile_rows);
  once.instructions = rows_moved * kInstructionsPerRow + as_double(kWarps) * kInstructionsPerWarp;
  const double lines_of_row =
      std::max(1.0, as_double(unit.tile_units * unit.bytes) / as_double(kLineBytes));
  if (kWay == Way::naive) {
    once.l1_lookups = once.l1_wavefronts = rows_moved * (lines_of_row + as_double(kLanes));
    const auto used = as_double(element);
    plan.traffic_reasons = {
        {Level::l1,
         waste_text("stores a row apart",
                    store_sectors * kSectorBytes / as_double(p[kRows] * p[kColumns]), used)},
        {Level::dram, "L2 puts the pieces of a written sector together"}};
    return {plan};
  }
  const std::int64_t pitch = unit.tile_units + (kWay == Way::padded ? 1 : 0);
  once.l1_lookups = 2 * rows_moved * lines_of_row;
  once.l1_wavefronts = 2 * rows_moved * lines_of_row;
  once.shared_wavefronts = tile_wavefronts(unit, pitch, pairs);
  once.shared_round_trips = 1;
  once.barriers = 1;
  plan.launch.shared_bytes = unit.tile_rows * pitch * unit.bytes;
  work.shared_bytes = blocks * once.shared_wavefronts * as_double(kLineBytes);
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return {plan};
}

constexpr std::int64_t kMostRows = 65535 * kLanes;
constexpr std::array kParameters = {
    roofcast::Parameter{"rows", "rows of x, elements of a row of y", 1, kMostRows, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row of x, rows of y", 1, std::int64_t{1} << 30,
                        std::nullopt}};
constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};

constexpr std::array<KernelModel, 3> kVariants = {{
    {"transpose.naive", "loads along rows, stores down columns", kParameters, kTypes,
     plan<Way::naive>},
    {"transpose.tiled", "through shared memory, 32 lanes in one bank", kParameters, kTypes,
     plan<Way::tiled>},
    {"transpose.padded", "through shared memory, rows one word longer", kParameters, kTypes,
     plan<Way::padded>},
}};

Work work(const Problem& p) {
  const double bytes = as_double(p[kRows] * p[kColumns]) * size_bytes(p.dtype);
  Work result;
  result.compulsory = {bytes, bytes};
  return result;
}

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "transpose", "y[c,r] = x[r,c], row-major", kParameters, kTypes, work, io, kVariants, {}};

}  // namespace roofcast::transpose
