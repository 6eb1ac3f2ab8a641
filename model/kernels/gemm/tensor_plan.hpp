#pragma once
// The plans of the variants, and the parts that they share.
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::gemm {

/// Arrays of a launch sequence. In a library's fp8 product kWideA is A in 16 bits, kScale its scale
/// as computed, kWideScale the scale as the product takes it. The library's epilogue reads kBeside
/// and writes the array after it.
enum : ArrayId { kA, kB, kC, kParts, kCopyOfA, kCopyOfB, kWideA, kScale, kWideScale, kBeside };

/// The FLOPs of products: of fp32 on the SIMT pipes, else on the tensor cores.
inline double& product_flops(Work& work, DType type) {
  return type == DType::fp32 ? work.vector_flops : work.tensor_flops[type];
}

/// One thread an output element. `rows_first`: neighbouring threads take neighbouring rows, so each
/// lane's load of A and store of C touches its own line.
LaunchSequence plan_direct(const Problem&, bool rows_first);

/// A block stages tiles in shared memory. `vectorized`: by accesses of 16 bytes, which run ahead in
/// three stages.
LaunchSequence plan_staged(const Problem&, std::string_view kernel, bool vectorized = false);

/// Split-K factors to choose from, for a library and for a split_k that is left open.
inline constexpr std::array<std::int64_t, 8> kSplits = {1, 2, 3, 4, 6, 8, 12, 16};

/// Split-K factors worth a forecast: `asked` if given, else 1 and each s of `known` with s ·
/// `least_steps` ≤ `steps` and (s - 1) · `blocks` < `most_blocks`. `blocks`: without split-K.
inline std::vector<std::int64_t> splits_of(std::int64_t asked, std::int64_t steps,
                                           std::int64_t blocks, std::int64_t most_blocks,
                                           std::span<const std::int64_t> known = kSplits,
                                           std::int64_t least_steps = 3) {
  if (asked != kToChoose) return {asked};
  std::vector<std::int64_t> found = {1};
  for (const std::int64_t splits : known.subspan(1)) {
    if (steps < least_steps * splits || blocks * (splits - 1) >= most_blocks) break;
    found.push_back(splits);
  }
  return found;
}

// --- launches before and after a library's product ---

/// How A of an fp8 product is converted from 16 bits.
enum Quantize : std::int64_t {
  kNothing,        ///< A already has 8 bits
  kActivations,    ///< by a known scale: one launch
  kDynamic,        ///< scaled by the largest |a|, element by element: four launches
  kDynamicVectors  ///< the same, eight elements at a time, as later releases do: three launches
};

/// The launches before the product; none if `how` is kNothing.
LaunchSequence quantization(Quantize how, double elements);

/// The reduction of split-K: a thread adds `splits` partial sums of each of four outputs.
Plan sum_of_parts(double outputs, double splits, double bytes);

}  // namespace roofcast::gemm

namespace roofcast::gemm::tensor {

LaunchSequence plan_mma_sync(const Problem&, const Gpu&);
std::vector<Problem> mma_sync_candidates(const Problem&, const Gpu&);

LaunchSequence plan_wgmma(const Problem&, const Gpu&);
std::vector<Problem> wgmma_candidates(const Problem&, const Gpu&);
std::vector<Outline> wgmma_outlines(std::span<const Problem> candidates, const Gpu&);

LaunchSequence plan_skinny(const Problem&, const Gpu&);
std::vector<Problem> skinny_candidates(const Problem&, const Gpu&);

/// The family's work with the FLOPs on the tensor cores, and C in its result type.
Work product_work(const Problem&);

/// The extents and element sizes of a batch of products, as doubles.
struct Sizes {
  /// Throws InputError where rows of a matrix overlap.
  explicit Sizes(const Problem& p);
  double m, n, k, batch;
  double element;  ///< bytes of an element of A and B
  double result;   ///< bytes of an element of C
  /// Bytes of each operand and of the result, over the batch.
  double a() const { return batch * m * k * element; }
  double b() const { return batch * k * n * element; }
  double c() const { return batch * outputs() * result; }
  double outputs() const { return m * n; }
  double flops() const { return batch * 2 * m * n * k; }
};

/// Mean sectors that a piece of a row touches, relative to piece_bytes ÷ 32, where rows
/// begin `pitch_bytes` apart.
double sectors_share(std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// Share of rows that begin within a sector.
double off_sector_share(std::int64_t pitch_bytes);
/// Rows stored in pieces, each by one warp or one box of TMA.
struct PieceStores {
  PieceStores(double bytes, std::int64_t piece_bytes, std::int64_t pitch_bytes);
  double sectors;
  double merged;  ///< lines written in part, which L2 merges (AccessPattern::partial_writes)
};
/// Share of rows for which one L2 lookup serves two blocks that read them: 1 where rows begin at
/// lines, 0.5 where they begin at sectors, else 0 (by the times of tiles of 64 rows).
double coalesced_share(std::int64_t pitch_bytes);
/// C as tiles store it, one line of each of many rows: DRAM writes each line separately.
ArrayUse writes_tiles(double bytes);

/// `count` row-major matrices with elements of `size` bytes.
struct Matrix {
  std::int64_t rows, columns, size, count = 1;
  double bytes() const { return as_double(count) * as_double(rows) * as_double(columns * size); }
};

/// Launches of kernels/gemm/passes.cu: a copy to padded rows, and the reduction.
Plan copy_of_rows(const Matrix&, const ArrayUse& from, ArrayId to);
Plan sum_of_parts(const Problem&);

/// Operands that the product's launch reads. A TMA box is copied in pieces, one of each row.
struct Operands {
  struct Side {
    /// `pitch_bytes` between rows sets the DRAM density of the pieces' lines
    /// (AccessPattern::read_density). 0: a copy, which lies in L2 and begins at lines.
    Side(const ArrayUse& use_of, std::int64_t pitch_bytes,
         std::int64_t piece_bytes = kTileLineBytes);
    /// As an outline has it. A copy has no compulsory bytes: L2 holds it.
    OperandRead read() const { return {use.compulsory.read_bytes, use.pattern}; }
    ArrayUse use;
    double sectors;    ///< sectors_share() of a piece
    double requests;   ///< L2 requests of the copy engine (TMA) for a piece
    double coalesced;  ///< coalesced_share() of the rows
  };
  Side a, b;
  /// An operand that a launch before the product copies or transposes.
  struct Copy {
    Matrix matrix;
    ArrayUse from;
    ArrayId to;
    bool transposes;
  };
  std::vector<Copy> copies{};
};
/// The operands of a kernel that reads A along k, and B too if `b_along_k`: an operand stored by
/// rows of k is transposed first. `copies_off_rows`: so that rows begin at multiples of 16 bytes,
/// other operands are copied first.
Operands operands_of(const Problem&, bool b_along_k, std::int64_t piece_bytes = kTileLineBytes,
                     bool copies_off_rows = true);
/// The launches of the operands' copies, followed by the product.
LaunchSequence with_copies(const Operands&, Plan product);

/// The tile settings of a problem, in elements.
struct TileShape {
  std::int64_t m, n, k;
  std::optional<std::int64_t> cluster{};

  bool is_asked_by(const Problem& p) const;  ///< the problem gives each value, or leaves it open
  Problem chosen_in(Problem p) const;
  std::string text() const;
  friend bool operator==(const TileShape&, const TileShape&) = default;
};
inline TileShape tile_in(const Problem& p) {
  return {p[kTileM], p[kTileN], p[kTileK]};
}
inline TileShape shape_of(const MmaTile& tile, DType type) {
  return {tile.m, tile.n, tile.k_bytes / element_bytes(type)};
}
/// The one of `tiles` with that shape. Throws InputError, which lists the tiles, where none has it.
template <class Tiles, class ShapeOf>
const auto& find_tile(std::string_view kernel, std::string_view product, const TileShape& asked,
                      const Tiles& tiles, const ShapeOf& shape_of) {
  for (const auto& tile : tiles) {
    if (shape_of(tile) == asked) return tile;
  }
  throw InputError(std::string(kernel) + " has no tile " + asked.text() + " for " +
                   std::string(product) + ": choose one of " +
                   listed(tiles, [&](const auto& tile) { return shape_of(tile).text(); }));
}

/// Throws InputError unless `parts` is from 1 to `steps`.
void check_split(std::string_view parameter, std::int64_t parts, std::string_view of_steps,
                 std::int64_t steps);

/// A tiled product. "Down" runs along m and "across" along n; with swap_ab the other way round. The
/// operand down (A; with swap_ab B) is read once by each tile column, the operand across once by
/// each row of clusters.
struct TiledProduct {
  explicit TiledProduct(const Problem& problem) : TiledProduct(problem, tile_in(problem)) {}
  TiledProduct(const Problem& problem, const TileShape& shape, bool swaps_ab = false)
      : p(problem),
        s(problem),
        tile(shape),
        swap_ab(swaps_ab),
        cluster(shape.cluster.value_or(1)),
        clusters_down(ceil_div(swap_ab ? p[kN] : p[kM], (swap_ab ? tile.n : tile.m) * cluster)),
        across(ceil_div(swap_ab ? p[kM] : p[kN], swap_ab ? tile.m : tile.n)),
        steps(ceil_div(ceil_div(p[kK], tile.k), parts())) {}

  const Problem& p;  ///< must outlive this object
  Sizes s;
  TileShape tile;
  bool swap_ab;
  std::int64_t cluster;  ///< tiles of a cluster, along down: multicast shares the operand across
  std::int64_t clusters_down, across;
  std::int64_t steps;  ///< k-slabs of a block

  std::int64_t down() const { return clusters_down * cluster; }
  std::int64_t tiles() const { return p[kBatch] * down() * across; }
  std::int64_t parts() const { return std::max<std::int64_t>(1, p[kSplitK]); }
  /// Blocks of the launch; with a persistent scheduler the tiles that its blocks take.
  std::int64_t blocks() const { return tiles() * parts(); }
  double area() const { return as_double(tile.m * tile.n); }
  double stage_bytes() const { return as_double((tile.m + tile.n) * tile.k) * s.element; }
  /// Bytes of the partial sums that split-K writes; 0 where k is not split.
  double partial_bytes() const {
    return parts() > 1 ? as_double(parts() * kPartBytes) * s.batch * s.outputs() : 0;
  }
  double down_bytes() const { return swap_ab ? s.b() : s.a(); }
  double across_bytes() const { return swap_ab ? s.a() : s.b(); }
  const Operands::Side& down_of(const Operands& of) const { return swap_ab ? of.b : of.a; }
  const Operands::Side& across_of(const Operands& of) const { return swap_ab ? of.a : of.b; }

  /// Operand bytes that all blocks read, weighted by the member `each` of each operand (sectors,
  /// requests). A row of clusters reads the operand across `times_across` times.
  double asked(const Operands&, double Operands::Side::*each, std::int64_t times_across = 1) const;
  /// Bytes, in whole sectors, that one L2 lookup serves for two blocks (coalesced_share()).
  double coalesced(const Operands&) const;
  /// The order in which blocks visit tiles; absent for a batch.
  std::optional<TileRaster> raster() const;
  /// The plan of a launch, still without arrays and blocks.
  Plan plan(std::vector<Instruction> needs, const Launch& launch) const;
  /// One step of a block: its arithmetic, its `read_bytes` from L2, its stage in shared memory.
  Step step(double read_bytes) const;
};

/// Registers of a kernel whose template takes the type, the tile and `others`.
template <class... Each>
std::int64_t registers_of(std::string_view kernel, DType type, const MmaTile& tile,
                          Each... others) {
  return compiled::registers(kernel, type, tile.m, tile.n, tile.k_bytes / element_bytes(type),
                             tile.warps_down, tile.warps_across, tile.stages, tile.blocks,
                             others...);
}

/// Adds the main loop of mma.sync, its stages filled by TMA or cp.async as the plan needs, and
/// `end`, the epilogue.
void set_mma_loop(Plan&, const TiledProduct&, const MmaTile&, const Operands&, const Step& end);

/// Products of mma.sync that a warp has in flight, and the latency of one, 33 cycles
/// (arXiv:2402.13499), in dependent multiply-adds.
inline constexpr double kUnrolledProducts = 4.5, kProductWaits = 8;

/// Warp instructions of a tile's epilogue of `sums` accumulators, by the counters of gemm.wgmma.
constexpr double end_instructions(double sums) {
  constexpr double kOfTile = 600, kOfSum = 3.5;
  return kOfTile + kOfSum * sums / kWarpLanes;
}

/// The launch of a batch of products by mma.sync, still without raster. `persistent`: blocks are
/// persistent and copy by TMA, else each has one tile. The array uses cover the whole batch.
Plan mma_sync_launch(const TiledProduct&, const MmaTile&, bool persistent, const Operands&,
                     const ArrayUse& result, const Gpu&);

}  // namespace roofcast::gemm::tensor
