#pragma once
// The plans of the variants, and what they are put together from.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::gemm {

/// One thread an output element, operands straight from global memory. `rows_first`: neighbouring
/// threads take neighbouring rows, so a warp's loads of A and stores of C touch a line each.
LaunchSequence plan_direct(const Problem&, bool rows_first);

/// How a kernel on the SIMT pipes works on tiles in shared memory.
struct Staging {
  std::string_view kernel;
  std::size_t parameters;   ///< that it takes from the problem; tiles of threads are 1 wide else
  std::int64_t width = 1;   ///< elements of one access to global memory, and to B's tile
  std::int64_t stages = 1;  ///< tiles in shared memory: with more than one, loads run ahead
  std::int64_t group_rows = 1;  ///< tile rows that blocks visit together
  std::int64_t pad_a = 0;       ///< elements between the columns of A's tile, which is transposed
};
LaunchSequence plan_staged(const Problem&, const Staging&);

}  // namespace roofcast::gemm

namespace roofcast::gemm::tensor {

LaunchSequence plan_mma_sync(const Problem&, const Gpu&);
std::vector<Problem> mma_sync_candidates(const Problem&, const Gpu&);

LaunchSequence plan_wgmma(const Problem&, const Gpu&);
std::vector<Problem> wgmma_candidates(const Problem&, const Gpu&);
Outline wgmma_outline(const Problem&, const Gpu&);

LaunchSequence plan_skinny(const Problem&, const Gpu&);
std::vector<Problem> skinny_candidates(const Problem&, const Gpu&);

/// The family's work in the type of the tensor cores, C in its own type.
Work product_work(const Problem&);
/// A batch counts as one product of the rows of all.
IoComplexity product_io(const Problem&, double compulsory_bytes, double on_chip_bytes);

/// Arrays of a program.
enum Array : ArrayId { kA, kB, kC, kParts, kCopyOfA, kCopyOfB };

/// The products of a batch in numbers.
struct Sizes {
  /// Throws InputError where rows of a matrix overlap.
  explicit Sizes(const Problem& p);
  double m, n, k, batch;
  double element;  ///< bytes of A and B
  double result;   ///< bytes of C
  /// Of all matrices.
  double a() const { return batch * m * k * element; }
  double b() const { return batch * k * n * element; }
  double c() const { return batch * outputs() * result; }
  double outputs() const { return m * n; }
  double flops() const { return batch * 2 * m * n * k; }
};

/// Sectors that a piece of so many bytes touches on average, of rows that begin so far apart, as a
/// multiple of those of a piece that begins at one; and lines.
double sectors_share(std::int64_t piece_bytes, std::int64_t pitch_bytes);
double lines_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// Share of such rows that begin within a sector.
double off_sector_share(std::int64_t pitch_bytes);
/// Share of such rows for which L2 looks up once for two blocks: by the times of tiles of 64 rows
/// half where they begin off lines, none off sectors.
double joined_share(std::int64_t pitch_bytes);
/// C as tiles store it, a line of each of many rows: DRAM takes each line by itself.
ArrayUse writes_tiles(ArrayId array, double bytes);

/// Row-major matrices of elements of `size` bytes.
struct Matrix {
  std::int64_t rows, columns, size, count = 1;
  double bytes() const { return as_double(count) * as_double(rows) * as_double(columns * size); }
};

/// The launches of kernels/gemm/passes.cu: rows to rows that are multiples of 128 bytes, the
/// transpose, and C from the sums of parts.
Plan copy_of_rows(const Matrix&, const ArrayUse& from, ArrayId to);
Plan transposed_copy(const Matrix&, const ArrayUse& from, ArrayId to);
Plan sum_of_parts(const Problem&);

/// Operands that the product's launch reads. A box is copied in pieces, one of each row.
struct Operands {
  struct Side {
    Side() : Side({}, 0) {}
    /// Rows are so many bytes apart; 0: they begin at lines.
    Side(const ArrayUse& use_of, std::int64_t pitch_bytes,
         std::int64_t piece_bytes = kTileLineBytes);
    ArrayUse use;
    double sectors;   ///< sectors_share() of a piece
    double requests;  ///< of the copy engine for a piece
    double joined;    ///< joined_share() of rows
  };
  Side a, b;
};
/// An operand whose rows are so many bytes apart.
Operands::Side operand(const ArrayUse& use, std::int64_t pitch_bytes,
                       std::int64_t piece_bytes = kTileLineBytes);
/// Which operands a kernel copies before the product: A where it is stored by rows of k, and these.
struct Copies {
  bool transposed_b;     ///< B is transposed
  bool off_rows = true;  ///< operands whose rows are no multiples of 16 bytes
};
Operands operands_of(const Problem&, Copies, std::int64_t piece_bytes = kTileLineBytes);
/// The launches that copy them, and those with the product after them.
LaunchSequence copies_before(const Problem&, Copies);
LaunchSequence with_copies(const Problem&, Copies, Plan product);

/// A tile as a problem asks for it.
struct TileShape {
  std::int64_t m, n, k;
  std::optional<std::int64_t> cluster{};

  bool is_asked_by(const Problem& p) const;  ///< or left open
  Problem chosen_in(Problem p) const;
  std::string text() const;
  friend bool operator==(const TileShape&, const TileShape&) = default;
};
inline TileShape tile_in(const Problem& p) {
  return {p[kTileM], p[kTileN], p[kTileK]};
}
/// The one of `tiles` with that shape. Throws InputError where there is none, and says which there
/// are.
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

/// Throws InputError where k has fewer steps than parts are asked for.
void check_split(std::string_view parameter, std::int64_t parts, std::string_view of_steps,
                 std::int64_t steps);

/// A product in tiles, along the rows ("down") and columns ("across") of C, or of swap_ab tiles the
/// other way round. Each tile across reads the operand that lies down, and each row of clusters the
/// other one.
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

  const Problem& p;  ///< which outlives it
  Sizes s;
  TileShape tile;
  bool swap_ab;
  std::int64_t cluster;  ///< tiles one below the other that share copies
  std::int64_t clusters_down, across;
  std::int64_t steps;  ///< of a block

  std::int64_t down() const { return clusters_down * cluster; }
  std::int64_t tiles() const { return p[kBatch] * down() * across; }
  std::int64_t parts() const { return std::max<std::int64_t>(1, p[kSplitK]); }
  /// Blocks of a launch, or tiles of blocks that stay.
  std::int64_t blocks() const { return tiles() * parts(); }
  double area() const { return as_double(tile.m * tile.n); }
  double stage_bytes() const { return as_double((tile.m + tile.n) * tile.k) * s.element; }
  /// Sums of parts that blocks write, bytes; 0 where k is not split.
  double partial_bytes() const {
    return parts() > 1 ? as_double(parts() * kPartBytes) * s.batch * s.outputs() : 0;
  }
  double down_bytes() const { return swap_ab ? s.b() : s.a(); }
  double across_bytes() const { return swap_ab ? s.a() : s.b(); }

  /// Bytes of the operands that blocks ask for, times what `each` says of a piece. Each row of
  /// clusters asks for the operand across once, or it is asked for `times_across` times.
  double asked(const Operands&, double Operands::Side::*each,
               std::optional<std::int64_t> times_across = {}) const;
  /// Of those, in sectors, what L2 looks up for two blocks at once: half, but none of rows that
  /// begin within a sector, and none where clusters share copies.
  double joined(const Operands&) const;
  /// As blocks visit the tiles, in rows. Absent for a batch: the tiles of another product share no
  /// operand.
  std::optional<TileRaster> raster() const;
  /// A launch without arrays and blocks; and a step of a block that copies so many bytes for it.
  Plan plan(std::vector<Instruction> needs, const Launch& launch) const;
  Step step(double read_bytes) const;
};

/// The loop of mma.sync through stages in shared memory, which TMA fills or the threads
/// themselves, and the end of a tile.
void set_mma_loop(Plan&, const TiledProduct&, const MmaTile&, const Operands&, bool by_tma,
                  Step end);

/// Products of mma.sync that a warp has under way, and the latency of one in multiply-adds: 33
/// cycles (arXiv:2402.13499).
inline constexpr double kUnrolledProducts = 4.5, kProductWaits = 8;

/// Warp instructions at the end of a tile of so many sums, which are set to zero, converted, staged
/// and stored by TMA: by the counters of gemm.wgmma.
constexpr double end_instructions(double sums) {
  constexpr double kOfTile = 600, kOfSum = 3.5;
  return kOfTile + kOfSum * sums / as_double(kWarpLanes);
}

/// Of a step of mma.sync in a block of so many warps: its tiles, the first operands from shared
/// memory, and the first product. The only warp of a scheduler waits for later operands too; of two
/// the other multiplies meanwhile.
constexpr Waits mma_waits(double warps) {
  constexpr double kSchedulers = 4, kOperands = 2;
  return {.tile_loads = 1,
          .shared = warps > kSchedulers ? kOperands : 2 * kOperands,
          .arithmetic = kProductWaits,
          .barriers = 1};
}

/// A batch in such tiles, a block a tile. The uses count the operands and the results of all its
/// products; tiles read the operands from L2, to which they come once.
Plan mma_sync_batch(const Problem&, const MmaTile&, const Operands&, const ArrayUse& result,
                    const Gpu&);

}  // namespace roofcast::gemm::tensor
