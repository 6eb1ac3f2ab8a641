#include "model/kernels/gemm/wgmma_traffic.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/counting/coalescing.hpp"

namespace roofcast::gemm::tensor::wgmma {
namespace {

constexpr auto kAllTiles = [] {
  std::array<WgmmaTile, kWgmmaTiles.size() + kWgmmaTurnedTiles.size()> all{};
  std::copy(kWgmmaTurnedTiles.begin(), kWgmmaTurnedTiles.end(),
            std::copy(kWgmmaTiles.begin(), kWgmmaTiles.end(), all.begin()));
  return all;
}();

}  // namespace

std::span<const WgmmaTile> tiles_for(const Problem& p) {
  if (wgmma_along_k(p.dtype)) return kWgmmaAlongKTiles;
  if (p[kTransposedB] == 0) return kWgmmaTiles;
  return kAllTiles;
}

Choice choice_of(const Problem& p) {
  const auto tiles = tiles_for(p);
  const auto found = std::find_if(tiles.begin(), tiles.end(), [&p](const WgmmaTile& one) {
    return one.m == p[kTileM] && one.n == p[kTileN] && one.cluster == p[kCluster];
  });
  if (found == tiles.end() || p[kTileK] != depth_of(p)) {
    std::string known;
    for (const WgmmaTile& one : tiles) {
      known += (known.empty() ? "" : ", ") + std::to_string(one.m) + "x" + std::to_string(one.n) +
               "x" + std::to_string(depth_of(p)) + " in clusters of " + std::to_string(one.cluster);
    }
    throw InputError("gemm.wgmma has no tile " + std::to_string(p[kTileM]) + "x" +
                     std::to_string(p[kTileN]) + "x" + std::to_string(p[kTileK]) +
                     " in clusters of " + std::to_string(p[kCluster]) + " for " +
                     std::string(name(p.dtype)) + ": choose one of " + known);
  }
  const std::int64_t steps = ceil_div(p[kK], depth_of(p));
  if (p[kSplitK] < 1 || p[kSplitK] > steps) {
    throw InputError("split_k is " + std::to_string(p[kSplitK]) + ": choose 1 to the tiles of k, " +
                     std::to_string(steps));
  }
  if (p[kSplitRest] < 1 || p[kSplitRest] > steps) {
    throw InputError("split_rest is " + std::to_string(p[kSplitRest]) +
                     ": choose 1 to the tiles of k, " + std::to_string(steps));
  }
  if (p[kSplitK] > 1 && p[kSplitRest] > 1) throw InputError(kOneSplit);
  return {p, Sizes(p), *found};
}

Written written(const Choice& c, const Gpu& gpu) {
  if (c.p[kSplitK] > 1) return {partial_bytes(c.p), 0, 0};
  const double left = as_double(c.split_tiles(gpu) * (c.p[kSplitRest] - 1));
  return {0, left * c.area() * as_double(kPartBytes), c.s.c()};
}

Sides sides_of(const Choice& c, const Operands& operands) {
  if (c.tile.turned) return {operands.b, operands.a, c.s.b(), c.s.a()};
  return {operands.a, operands.b, c.s.a(), c.s.b()};
}

namespace {

// Of all pieces that blocks ask for, so much of each.
double asked(const Choice& c, const Operands& operands, double Operands::Side::*each) {
  const Sides sides = sides_of(c, operands);
  return as_double(c.across()) * sides.down_bytes * sides.down.*each +
         as_double(c.clusters_down()) * sides.across_bytes * sides.across.*each;
}

}  // namespace

double asked_bytes(const Choice& c, const Operands& operands) {
  return asked(c, operands, &Operands::Side::sectors);
}

double copy_requests(const Choice& c, const Operands& operands) {
  return asked(c, operands, &Operands::Side::requests) / as_double(kTileLineBytes);
}

// Where two blocks ask for the same sectors at about the same time, L2 looks once: half of both
// operands are joined so while blocks are in step, but none of rows that begin within a sector.
// What one block of a cluster copies for both is joined with nobody else's, but for a little: 0.94
// of the lines (l2_lookup_read_bytes).
double lookup_bytes(const Choice& c, const Operands& operands, const Gpu& gpu) {
  constexpr double kOfClusters = 0.94;
  if (c.tile.cluster > 1) return kOfClusters * asked_bytes(c, operands);
  const double in_step = in_step_share(as_double(c.tiles() * c.p[kSplitK]) * as_double(c.steps()) /
                                       as_double(gpu.slots(1)));
  const auto looked_up = [&](double bytes, const Operands::Side& side, std::int64_t blocks) {
    return bytes * side.sectors * (as_double(blocks) - joined_blocks(side, blocks, in_step));
  };
  const Sides sides = sides_of(c, operands);
  return looked_up(sides.down_bytes, sides.down, c.across()) +
         looked_up(sides.across_bytes, sides.across, c.clusters_down());
}

double box_bytes(const Choice& c, const Operands& operands) {
  const Sides sides = sides_of(c, operands);
  const bool along_k = c.p[kTransposedB] != 0 || wgmma_along_k(c.p.dtype);
  const std::int64_t panel = along_k ? 1 : depth_of(c.p);
  const double pieces =
      as_double(c.across() * c.extent_down()) * sides.down.sectors +
      as_double(c.clusters_down() * c.tile.cluster * ceil_div(c.extent_across(), panel) * panel) *
          sides.across.sectors;
  const double copied_rows = as_double(c.p[kBatch] * c.p[kSplitK] * c.steps()) * pieces;
  return copied_rows * as_double(kTileLineBytes);
}

namespace {

/// How C, or the sums of parts of k, leaves: in pieces of rows that begin so far apart.
struct Pieces {
  std::int64_t bytes, pitch_bytes;
  double stored_bytes;
  bool one_by_one = false;  ///< two instructions each take every other element
};

// Boxes take lines. Threads take a row of a warp's lanes at a time, and of parts of k 32 bytes of
// eight rows at once: pairs of sums, and one by one where rows are off those.
Pieces pieces_of(const Choice& c) {
  const std::int64_t result = element_bytes(result_type(c.p.dtype));
  if (c.p[kSplitK] > 1) {
    const std::int64_t pitch_bytes = c.p[kN] * kPartBytes;
    return {kSectorBytes, pitch_bytes, partial_bytes(c.p), pitch_bytes % (2 * kPartBytes) != 0};
  }
  const std::int64_t pitch_bytes = stored_c(c.p).row * result;
  return {by_threads(c) ? kWarpLanes * result : kTileLineBytes, pitch_bytes, c.s.c()};
}

}  // namespace

bool by_threads(const Choice& c) {
  const std::int64_t result = element_bytes(result_type(c.p.dtype));
  return c.p[kSplitK] > 1 || stored_c(c.p).row * result % kVectorBytes != 0 ||
         c.p[kN] * result % kVectorBytes != 0;
}

double stored_sectors(const Choice& c) {
  const Pieces pieces = pieces_of(c);
  return pieces.stored_bytes / as_double(pieces.bytes) *
         sectors_of_piece(pieces.bytes, pieces.pitch_bytes) * (pieces.one_by_one ? 2 : 1);
}

double merged_stores(const Choice& c) {
  // Sectors of parts come one by one.
  if (c.p[kSplitK] > 1) return stored_sectors(c);
  const Pieces pieces = pieces_of(c);
  return pieces.stored_bytes / as_double(pieces.bytes) *
         lines_of_piece(pieces.bytes, pieces.pitch_bytes) * off_sector_share(pieces.pitch_bytes) *
         (pieces.one_by_one ? 2 : 1);
}

}  // namespace roofcast::gemm::tensor::wgmma
