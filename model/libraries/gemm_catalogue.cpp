#include "model/libraries/gemm_catalogue.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace roofcast::gemm {
namespace {

std::int64_t steps_of(const Problem& p) {
  return ceil_div(p[kK] * element_bytes(p.dtype), kUsualStepBytes);
}

bool has_wgmma(const Gpu& gpu) {
  return gpu.features.has(Instruction::wgmma);
}

bool multiplies_async(LibraryKernels kernels) {
  return kernels == LibraryKernels::xmma || kernels == LibraryKernels::any_width;
}

// cuBLAS multiplies tf32 by mma.sync where its 64x64 tiles fill less than half of the SMs, since
// only those kernels split k, or where they have fewer multiply-adds than this. wgmma reads tf32
// along k only: operands stored across k are transposed first, so mma.sync wins up to larger GEMMs.
bool is_small_tf32(const Problem& p, const Gpu& gpu) {
  constexpr std::int64_t kSide = 64;
  constexpr double kLeastAsync = 90'000, kLeastTransposed = 1'000'000;
  const double tiles = as_double(ceil_div(p[kM], kSide) * ceil_div(p[kN], kSide));
  const double all = tiles * as_double(p[kBatch]);
  return 2 * all < as_double(gpu.slots(1)) ||
         all * as_double(p[kK]) < (p[kLayout] == kTN ? kLeastTransposed : kLeastAsync);
}

// Row pitches in elements. Throws InputError if a leading dimension is less than a row.
RowLengths library_rows(const Problem& p) {
  RowLengths rows = row_lengths(p, p[kLayout]);
  const auto lead = [](std::int64_t& row, std::int64_t leading, const char* name) {
    require(leading == 0 || leading >= row, name, " is ", leading, " and a row holds ", row,
            " elements: give at least that, or 0");
    if (leading != 0) row = leading;
  };
  lead(rows.a, p[kLda], "lda");
  lead(rows.b, p[kLdb], "ldb");
  return rows;
}

// Elements per copy in the library's kernel. Kernels copy 16, 4 or 2 bytes, the same for all
// operands: rows aligned to 8 bytes are copied by 4.
std::int64_t copied_vector(const Problem& p) {
  constexpr std::int64_t kNarrowBytes = 4;
  const std::int64_t vector = narrowest_vector(library_rows(p), p.dtype);
  if (vector * element_bytes(p.dtype) == kVectorBytes) return vector;
  return std::clamp<std::int64_t>(kNarrowBytes / element_bytes(p.dtype), 1, vector);
}

// Rows of A plus columns of B, summed over the stages, that fit in shared memory.
std::int64_t lines_of_stages(const Gpu& gpu) {
  return (gpu.occupancy->shared_bytes_per_block - kResultBytes) / kUsualStepBytes;
}

std::span<const std::int64_t> async_sides(const Gpu& gpu) {
  if (has_wgmma(gpu)) return kWgmmaSides;
  return kTcgen05Sides;
}

// Widest other side of a tile: accumulators must fit registers (wgmma) or tensor memory (tcgen05).
std::int64_t widest(std::int64_t side, const Gpu& gpu) {
  return has_wgmma(gpu) ? 2 * kSumsShared * kGroupThreads / side : kTcgen05Columns;
}

bool is_async_tile(std::int64_t side, std::int64_t other, const Gpu& gpu) {
  const auto sides = async_sides(gpu);
  return std::find(sides.begin(), sides.end(), side) != sides.end() && other > 0 &&
         other % kColumnUnit == 0 && other <= widest(side, gpu);
}

// A tile with one listed side; the other has any width that fits.
std::optional<LibraryTile> async_tile(std::int64_t m, std::int64_t n, const Gpu& gpu) {
  if (!is_async_tile(m, n, gpu) && !is_async_tile(n, m, gpu)) return std::nullopt;
  const std::int64_t stages =
      gpu.occupancy ? std::min(kMostStages, lines_of_stages(gpu) / (m + n)) : kMostStages;
  if (stages < kLeastStages) return std::nullopt;
  return LibraryTile{.m = m, .n = n, .blocks_per_sm = 1, .stages = stages};
}

// The listed tiles; empty if one side may have any width.
std::span<const LibraryTile> tiles_for(const Problem& p, const Gpu& gpu, LibraryKernels kernels) {
  if (kernels == LibraryKernels::any_width) return {};
  if (kernels == LibraryKernels::xmma) return kXmmaTiles;
  if (kernels == LibraryKernels::simt) {
    if (has_async_mma(gpu)) return kStagedSimtTiles;
    const bool of_batch = p[kBatch] > 1 && gpu.features.has(Instruction::cp_async);
    return std::span(kSimtTiles).first(of_batch ? 1 : kSimtTiles.size());
  }
  if (!has_wgmma(gpu)) return kMmaTiles;
  if (p.dtype == DType::tf32 && library_aligned(p)) return kSmallTf32Tiles;
  if (element_bytes(p.dtype) == 2 && copied_vector(p) == 1) {
    return p.dtype == DType::fp16 ? kOddTiles : std::span(kOddTiles).first(kOddTiles.size() - 1);
  }
  return kMmaTiles;
}

// Blocks per SM with two stages each in shared memory: the tile's own, fewer, or none.
std::int64_t fitting_blocks(const LibraryTile& tile, const Gpu& gpu) {
  if (!gpu.occupancy) return tile.blocks_per_sm;
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t stages = 2 * stage_bytes(tile);
  if (stages > rules.shared_bytes_per_block) return 0;
  return std::min(tile.blocks_per_sm,
                  rules.shared_bytes_per_sm / (stages + rules.shared_reserved_bytes_per_block));
}

constexpr std::array<std::int64_t, 12> kKnownSplits = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

/// A side of C and of its tiles: positions of its extent and of its setting in Problem.
struct Side {
  std::size_t extent, tile;
};
constexpr Side kRowSide{kM, kTileM}, kColumnSide{kN, kTileN};

// Adds tiles with `listed` elements along `side`. cuBLAS fills its waves (on 132 SMs 1149x2008 has
// 126 tiles, 4435x1624 has 260): the width is the narrowest with the fewest waves.
void add_widths(std::vector<Problem>& found, const Problem& p, const Side& side,
                std::int64_t listed, const Side& other, const Gpu& gpu) {
  const std::int64_t units = ceil_div(p[other.extent], kColumnUnit);
  const std::int64_t rows = ceil_div(p[side.extent], listed) * p[kBatch], places = gpu.slots(1);
  std::int64_t most = widest(listed, gpu);
  if (gpu.occupancy && has_wgmma(gpu)) {
    most = std::min(most, lines_of_stages(gpu) / kLeastStages - listed);
  }
  most = std::min(most / kColumnUnit, units) * kColumnUnit;
  if (most <= 0 && p[other.tile] == kToChoose) return;
  // By the names and grids of 700 wgmma kernels, a part of k has at least 20 steps.
  const std::int64_t least_part = has_wgmma(gpu) ? 20 : 3;
  for (const std::int64_t splits :
       splits_of(p[kSplitK], steps_of(p), rows, places, kKnownSplits, least_part)) {
    Problem one = p;
    one[side.tile] = listed;
    one[kSplitK] = splits;
    if (one[other.tile] == kToChoose) {
      const std::int64_t blocks = rows * splits;
      const std::int64_t least = blocks * ceil_div(p[other.extent], most);
      const std::int64_t columns = round_up(least, places) / blocks;
      one[other.tile] = round_up(ceil_div(p[other.extent], columns), kColumnUnit);
    }
    if (async_tile(one[kTileM], one[kTileN], gpu)) found.push_back(one);
  }
}

std::vector<Problem> of_any_width(const Problem& p, const Gpu& gpu) {
  std::vector<Problem> found;
  for (const std::int64_t listed : async_sides(gpu)) {
    if (is_asked(p[kTileM], listed)) add_widths(found, p, kRowSide, listed, kColumnSide, gpu);
    if (is_asked(p[kTileN], listed)) add_widths(found, p, kColumnSide, listed, kRowSide, gpu);
  }
  return found;
}

std::int64_t blocks_of(const LibraryTile& tile, const Problem& p) {
  return ceil_div(p[kM], tile.m) * ceil_div(p[kN], tile.n) * p[kBatch];
}

// cuBLAS prefers larger tiles that take one to two waves, though smaller ones end sooner.
bool yields_to_larger(const LibraryTile& tile, std::span<const LibraryTile> tiles, const Problem& p,
                      const Gpu& gpu) {
  if (p.dtype == DType::fp32 || p[kTileM] != kToChoose || p[kTileN] != kToChoose) return false;
  return std::any_of(tiles.begin(), tiles.end(), [&](const LibraryTile& larger) {
    const std::int64_t blocks = blocks_of(larger, p), sms = gpu.slots(1);
    return larger.m * larger.n > tile.m * tile.n && blocks >= sms && blocks <= 2 * sms &&
           fitting_blocks(larger, gpu) > 0;
  });
}

std::vector<Problem> of_tiles(LibraryKernels kernels, const Problem& p, const Gpu& gpu,
                              bool alone) {
  const std::span<const LibraryTile> tiles = tiles_for(p, gpu, kernels);
  // Kernels by wgmma with fixed sides have no launch that adds parts.
  const bool unsplit = kernels == LibraryKernels::xmma && p[kSplitK] == kToChoose;
  const std::int64_t asked = unsplit ? 1 : asked_splits(p);
  constexpr std::int64_t kLeastSteps = 1, kMostRounds = 2;
  std::vector<Problem> found;
  for (const LibraryTile& tile : tiles) {
    if (!is_asked(p[kTileM], tile.m) || !is_asked(p[kTileN], tile.n) ||
        fitting_blocks(tile, gpu) == 0) {
      continue;
    }
    const std::int64_t whole = blocks_of(tile, p);
    const std::int64_t most = kMostRounds * gpu.slots(tile.blocks_per_sm);
    for (const std::int64_t splits :
         splits_of(asked, steps_of(p), whole, most, kKnownSplits, kLeastSteps)) {
      if (alone && splits == 1 && yields_to_larger(tile, tiles, p, gpu)) continue;
      found.push_back(in_tiles(p, tile.m, tile.n, splits));
    }
  }
  return found;
}

// The tile that the problem names. Throws InputError if the library has no such tile here.
LibraryTile library_tile(const Problem& p, const Gpu& gpu, LibraryKernels kernels) {
  if (const auto tile = find_tile(p, gpu, kernels)) return *tile;
  const auto side_text = [](std::int64_t side) {
    return side == kToChoose ? "any" : std::to_string(side);
  };
  const auto tile_text = [&](const LibraryTile& tile) {
    return side_text(tile.m) + "x" + side_text(tile.n);
  };
  const std::string refused =
      "gemm.library has no tile " + tile_text({p[kTileM], p[kTileN], 1}) + " here: ";
  const auto tiles = tiles_for(p, gpu, kernels);
  if (!tiles.empty()) throw InputError(refused + "choose one of " + listed(tiles, tile_text));
  throw InputError(refused + "one side is one of " + listed(async_sides(gpu), side_text) +
                   ", the other a multiple of " + std::to_string(kColumnUnit));
}

// Fills in threads and stages that the catalogue leaves open (unknown for the library): as many
// stages as fit with the tile's blocks per SM.
LibraryTile completed(LibraryTile tile, const Gpu& gpu) {
  if (tile.threads == 0) tile.threads = tile.blocks_per_sm == 1 ? 384 : 256;
  if (tile.stages == 0 && gpu.occupancy) {
    const OccupancyRules& rules = *gpu.occupancy;
    const std::int64_t room = std::min(
        rules.shared_bytes_per_sm / tile.blocks_per_sm - rules.shared_reserved_bytes_per_block,
        rules.shared_bytes_per_block);
    tile.stages = room / stage_bytes(tile);
  }
  return tile;
}

}  // namespace

bool library_aligned(const Problem& p) {
  return copied_vector(p) * element_bytes(p.dtype) == kVectorBytes;
}

LibraryKernels cublas_kernels(const Problem& p, const Gpu& gpu) {
  if (p.dtype == DType::fp32) return LibraryKernels::simt;
  if (!has_async_mma(gpu) || !library_aligned(p)) return LibraryKernels::mma_sync;
  if (p.dtype != DType::tf32) return LibraryKernels::any_width;
  if (is_small_tf32(p, gpu)) return LibraryKernels::mma_sync;
  return has_wgmma(gpu) ? LibraryKernels::xmma : LibraryKernels::any_width;
}

std::optional<LibraryTile> find_tile(const Problem& p, const Gpu& gpu, LibraryKernels kernels) {
  for (LibraryTile tile : tiles_for(p, gpu, kernels)) {
    if (tile.m != p[kTileM] || tile.n != p[kTileN]) continue;
    tile.blocks_per_sm = std::max<std::int64_t>(1, fitting_blocks(tile, gpu));
    if (kernels == LibraryKernels::xmma && p.dtype == DType::tf32) tile.rate = kXmmaTf32Rate;
    return tile;
  }
  // Run files may name tiles of other types for tf32.
  return multiplies_async(kernels) ? async_tile(p[kTileM], p[kTileN], gpu) : std::nullopt;
}

std::vector<Problem> blockings(const Problem& p, const Gpu& gpu, LibraryKernels kernels,
                               bool alone) {
  std::vector<Problem> found = of_tiles(kernels, p, gpu, alone);
  // No listed tiles, or another one is asked for.
  if (found.empty() && multiplies_async(kernels)) found = of_any_width(p, gpu);
  if (!found.empty()) return found;
  const LibraryTile tile = library_tile(p, gpu, kernels);
  return {in_tiles(p, tile.m, tile.n, p[kSplitK] == kToChoose ? 1 : p[kSplitK])};
}

LibraryProduct library_product(const Problem& p, const Gpu& gpu, const Packings& packings) {
  const RowLengths rows = library_rows(p);
  const LibraryKernels kernels = packings.kernels ? *packings.kernels : cublas_kernels(p, gpu);
  const bool async = multiplies_async(kernels), along_k = async && p.dtype == DType::tf32;
  std::optional<Instruction> mma;
  if (kernels != LibraryKernels::simt) mma = Instruction::mma_sync;
  if (async) mma = has_wgmma(gpu) ? Instruction::wgmma : Instruction::tcgen05;
  const LibraryTile tile = library_tile(p, gpu, kernels);
  const std::int64_t element = element_bytes(p.dtype);
  return {
      .p = p,
      .sizes = sizes_of(p, packings),
      .a = {p[kM], tile.m, along_k && transposes_a(p[kLayout]),
            tensor::coalesced_share(rows.a * element), packings.a},
      .b = {p[kN], tile.n, along_k && !transposes_b(p[kLayout]),
            tensor::coalesced_share(rows.b * element), packings.b},
      .k = as_double(p[kK]),
      .tile = completed(tile, gpu),
      .widening = packings.widening,
      .k_slabs = packings.k_slabs,
      .vector = as_double(copied_vector(p)),
      .mma = mma,
      .through_registers = mma && tile.stages > 0 && tile.stages <= 2,
  };
}

}  // namespace roofcast::gemm
