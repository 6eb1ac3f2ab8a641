#include "model/libraries/gemm_catalogue.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "model/libraries/gemm.hpp"
#include "model/libraries/gemm_rows.hpp"

namespace roofcast::gemm {
namespace {

std::int64_t steps_of(const Problem& p) {
  return ceil_div(p[kK] * element_bytes(p.dtype), kUsualStepBytes);
}

bool has_wgmma(const Gpu& gpu) {
  return gpu.features.has(Instruction::wgmma);
}

// tf32 has tiles of its own.
bool takes_tf32_tiles(const Problem& p, const Gpu& gpu) {
  return p.dtype == DType::tf32 && has_wgmma(gpu) && takes_wide(p, gpu);
}

std::int64_t stages(std::int64_t lines, const Gpu& gpu) {
  if (!gpu.occupancy) return kMostStages;
  const std::int64_t room = gpu.occupancy->shared_bytes_per_block - kResultBytes;
  return std::min(kMostStages, room / (lines * kUsualStepBytes));
}

std::span<const std::int64_t> wide_sides(const Gpu& gpu) {
  if (has_wgmma(gpu)) return kWgmmaSides;
  return kTcgen05Sides;
}

// Of the other side: registers hold the sums of wgmma, tensor memory those of tcgen05.
std::int64_t widest(std::int64_t side, const Gpu& gpu) {
  return has_wgmma(gpu) ? 2 * kSumsShared * kGroupThreads / side : kTcgen05Columns;
}

bool is_wide_tile(std::int64_t side, std::int64_t other, const Gpu& gpu) {
  const auto sides = wide_sides(gpu);
  return std::find(sides.begin(), sides.end(), side) != sides.end() && other > 0 &&
         other % kWideColumns == 0 && other <= widest(side, gpu);
}

LibraryTile tcgen05_tile(const Problem& p, std::int64_t m, std::int64_t n, bool along_m) {
  constexpr std::int64_t kFullRows = kTcgen05Sides.back();
  const std::int64_t side = along_m ? m : n;
  const bool paired = side == kFullRows && (along_m ? p[kM] : p[kN]) > side;
  const double rate = as_double(side) / as_double(kFullRows);
  return {m, n, 1, rate, 0, true, side, paired};
}

// Of any width, where the kernels have it.
std::optional<LibraryTile> wide_tile(const Problem& p, std::int64_t m, std::int64_t n,
                                     const Gpu& gpu) {
  const bool along_m = is_wide_tile(m, n, gpu), along_n = is_wide_tile(n, m, gpu);
  if (!along_m && !along_n) return std::nullopt;
  LibraryTile tile{m, n, 1, 1, 0, m * n <= kSumsAlone * kGroupThreads};
  if (!has_wgmma(gpu)) tile = tcgen05_tile(p, m, n, along_m && (m >= n || !along_n));
  tile.stages = stages(copied_lines(tile), gpu);
  if (tile.stages < kLeastStages) return std::nullopt;
  return tile;
}

// None where the kernels have tiles of any width.
std::span<const LibraryTile> tiles_for(const Problem& p, const Gpu& gpu) {
  if (p.dtype == DType::fp32) {
    if (has_wide_products(gpu)) return kStagedSimtTiles;
    if (p[kBatch] > 1 && gpu.features.has(Instruction::cp_async)) return kSimtBatchTiles;
    return kSimtTiles;
  }
  if (takes_tf32_tiles(p, gpu)) return kTf32Tiles;
  if (takes_wide(p, gpu)) return {};
  if (!has_wgmma(gpu)) return kMmaTiles;
  if (p.dtype == DType::tf32 && library_aligned(p)) return kSmallTf32Tiles;
  if (p.dtype == DType::bf16 && copied_vector(p) == 1) return kOddTiles;
  return kMmaTiles;
}

// Shared memory holds two stages of each block's tile; fewer blocks where it is small, none where
// it is too small.
std::int64_t fitting_blocks(const LibraryTile& tile, const Gpu& gpu) {
  if (!gpu.occupancy) return tile.blocks_per_sm;
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t stages = 2 * stage_bytes(tile);
  if (stages > rules.shared_bytes_per_block) return 0;
  return std::min(tile.blocks_per_sm,
                  rules.shared_bytes_per_sm / (stages + rules.shared_reserved_bytes_per_block));
}

std::optional<LibraryTile> find_tile(const Problem& p, const Gpu& gpu) {
  const std::int64_t m = p[kTileM], n = p[kTileN];
  const auto tiles = tiles_for(p, gpu);
  if (tiles.empty()) return wide_tile(p, m, n, gpu);
  const auto one = std::find_if(tiles.begin(), tiles.end(), [m, n](const LibraryTile& tile) {
    return tile.m == m && tile.n == n;
  });
  if (one == tiles.end()) return std::nullopt;
  LibraryTile found = *one;
  found.blocks_per_sm = std::max<std::int64_t>(1, fitting_blocks(*one, gpu));
  if (takes_tf32_tiles(p, gpu)) found.stages = stages(m + n, gpu);
  return found;
}

void add(std::vector<Problem>& found, const Problem& p, std::int64_t m, std::int64_t n,
         std::int64_t splits) {
  Problem& one = found.emplace_back(p);
  one[kTileM] = m;
  one[kTileN] = n;
  one[kSplitK] = splits;
}

/// One side of a tile is given, along m or along n; the other is to choose.
class Widths {
 public:
  Widths(const Problem& p, std::int64_t side, bool along_m, const Gpu& gpu)
      : p_(p),
        gpu_(gpu),
        side_(side),
        along_m_(along_m),
        other_extent_(along_m ? p[kN] : p[kM]),
        rows_(ceil_div(along_m ? p[kM] : p[kN], side) * p[kBatch]) {
    std::int64_t most = widest(side, gpu);
    if (gpu.occupancy && has_wgmma(gpu)) {
      const std::int64_t lines =
          (gpu.occupancy->shared_bytes_per_block - kResultBytes) / kUsualStepBytes;
      most = std::min(most, lines / kLeastStages - side);
    }
    most_ = std::min(most / kWideColumns, ceil_div(other_extent_, kWideColumns)) * kWideColumns;
  }

  // The names fill rounds: on 132 SMs 1149x2008 takes 126 tiles, 4435x1624 takes 260, 2778x26544
  // takes 1826. So for each number of rounds, from the least on, the narrowest width is tried.
  void add_to(std::vector<Problem>& found) const {
    const std::int64_t asked = along_m_ ? p_[kTileN] : p_[kTileM];
    const std::int64_t places = gpu_.slots(1);
    for (const std::int64_t splits : splits_of(p_[kSplitK], steps_of(p_), rows_, places)) {
      if (asked != kToChoose) {
        add_width(found, asked, splits);
        continue;
      }
      if (most_ <= 0) continue;
      const std::int64_t blocks = rows_ * splits;
      std::int64_t columns = ceil_div(other_extent_, most_);
      const bool chosen = p_[kSplitK] == kToChoose;
      // A split is for what one round takes.
      if (chosen && splits > 1 && (!is_deep() || blocks * columns > places)) continue;
      for (std::int64_t left = splits > 1 ? 1 : kWidths; left > 0; --left) {
        columns = ceil_div(blocks * columns, places) * places / blocks;  // fills the last round
        const std::int64_t width =
            ceil_div(ceil_div(other_extent_, columns), kWideColumns) * kWideColumns;
        columns = ceil_div(other_extent_, width);
        const bool splittable = is_deep() && 2 * rows_ * columns <= places;
        if (!chosen || splits > 1 || !splittable) add_width(found, width, splits);
        if (width == kWideColumns) break;
        columns = ceil_div(other_extent_, width - kWideColumns);
      }
    }
  }

 private:
  static constexpr std::int64_t kWidths = 4;  // numbers of rounds that are tried

  // The library splits products of more than 2048 in k whose tiles leave half of the SMs idle, and
  // hardly others: 241 of 261 by their kernels' names, and 19 of 1,326.
  bool is_deep() const {
    constexpr std::int64_t kDeepSteps = 32;
    return steps_of(p_) > kDeepSteps;
  }

  void add_width(std::vector<Problem>& found, std::int64_t width, std::int64_t splits) const {
    const std::int64_t m = along_m_ ? side_ : width, n = along_m_ ? width : side_;
    if (wide_tile(p_, m, n, gpu_)) add(found, p_, m, n, splits);
  }

  const Problem& p_;
  const Gpu& gpu_;
  std::int64_t side_;
  bool along_m_;
  std::int64_t other_extent_, rows_;
  std::int64_t most_ = 0;
};

/// What is given of a tile: the side in question, and the other one.
struct Asked {
  std::int64_t side, other;
};

// The free side lies along the shorter extent where that is at most 56: so it does for 401 of 429
// names. Other sides are tried where the extent is longer than half of them. A tile that is given
// in part is tried with all.
bool is_tried(std::int64_t side, const Asked& asked, std::int64_t extent, std::int64_t other) {
  if (asked.side != kToChoose || asked.other != kToChoose) return is_asked(asked.side, side);
  const std::int64_t least = kWgmmaSides.front();
  const bool may_lie = extent > least - kWideColumns || extent >= other;
  return may_lie && (side == least || side / 2 < extent);
}

std::vector<Problem> of_any_width(const Problem& p, const Gpu& gpu) {
  std::vector<Problem> found;
  constexpr std::size_t kUsual = 64;
  found.reserve(kUsual);
  for (const std::int64_t side : wide_sides(gpu)) {
    const Asked along_m{p[kTileM], p[kTileN]}, along_n{p[kTileN], p[kTileM]};
    if (is_tried(side, along_m, p[kM], p[kN])) Widths(p, side, true, gpu).add_to(found);
    if (is_tried(side, along_n, p[kN], p[kM])) Widths(p, side, false, gpu).add_to(found);
  }
  return found;
}

std::vector<Problem> of_tiles(const Problem& p, const Gpu& gpu) {
  static constexpr std::array<std::int64_t, 12> kKnown = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
  constexpr std::int64_t kLeastSteps = 1, kMostRounds = 2;
  // Those by wgmma for tf32 are split only where tiles are few, by cuBLAS's kernels' names.
  constexpr std::int64_t kTf32Part = 4;
  // Kernels for one product of a batch add nothing from others.
  const std::int64_t asked = p[kBatch] > 1 && p[kSplitK] == kToChoose ? 1 : p[kSplitK];
  std::vector<Problem> found;
  const auto tiles = tiles_for(p, gpu);
  const bool of_tf32 = takes_tf32_tiles(p, gpu);
  found.reserve(tiles.size() * kKnown.size());
  for (const LibraryTile& tile : tiles) {
    if (!is_asked(p[kTileM], tile.m) || !is_asked(p[kTileN], tile.n) ||
        fitting_blocks(tile, gpu) == 0) {
      continue;
    }
    const std::int64_t whole = ceil_div(p[kM], tile.m) * ceil_div(p[kN], tile.n) * p[kBatch];
    const std::int64_t most =
        of_tf32 ? gpu.slots(1) / kTf32Part : kMostRounds * gpu.slots(tile.blocks_per_sm);
    for (const std::int64_t splits :
         splits_of(asked, steps_of(p), whole, most, kKnown, kLeastSteps)) {
      add(found, p, tile.m, tile.n, splits);
    }
  }
  return found;
}

}  // namespace

LibraryTile library_tile(const Problem& p, const Gpu& gpu) {
  auto tile = find_tile(p, gpu);
  // Run files name tiles for tf32 that other types have.
  if (!tile && takes_tf32_tiles(p, gpu)) tile = wide_tile(p, p[kTileM], p[kTileN], gpu);
  if (tile) return *tile;
  const auto side_text = [](std::int64_t side) {
    return side == kToChoose ? "any" : std::to_string(side);
  };
  const std::string refused =
      "gemm.library has no tile " + side_text(p[kTileM]) + "x" + side_text(p[kTileN]) + " here: ";
  std::string known;
  const auto tiles = tiles_for(p, gpu);
  if (tiles.empty()) {
    for (const std::int64_t side : wide_sides(gpu)) {
      known += (known.empty() ? "" : ", ") + std::to_string(side);
    }
    throw InputError(refused + "one side is one of " + known + ", the other a multiple of " +
                     std::to_string(kWideColumns));
  }
  for (const LibraryTile& one : tiles) {
    known += (known.empty() ? "" : ", ") + std::to_string(one.m) + "x" + std::to_string(one.n);
  }
  throw InputError(refused + "choose one of " + known);
}

std::vector<Problem> blockings(const Problem& p, const Gpu& gpu) {
  std::vector<Problem> found = tiles_for(p, gpu).empty() ? of_any_width(p, gpu) : of_tiles(p, gpu);
  if (!found.empty()) return found;
  (void)library_tile(p, gpu);  // which says what there is
  const std::int64_t splits = p[kSplitK] == kToChoose ? 1 : p[kSplitK];
  add(found, p, p[kTileM], p[kTileN], splits);
  return found;
}

}  // namespace roofcast::gemm
