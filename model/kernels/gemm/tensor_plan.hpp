#pragma once
// What the plans of the tensor-core products have in common: sizes, arrays, and the launches before
// and after the product.
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor.hpp"

namespace roofcast::gemm::tensor {

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
  double c() const { return batch * m * n * result; }
  double flops() const { return batch * 2 * m * n * k; }
};

/// Sums of parts that blocks write, bytes; 0 where k is not split.
double partial_bytes(const Problem&);

/// The family's work in the type of the tensor cores, C in its own type.
Work product_work(const Problem&);

/// Of independent products: as one of as many times as many rows.
IoComplexity product_io(const Problem&, double compulsory_bytes, double on_chip_bytes);

/// Steps that copies are ahead in a ring of so many stages, where the warps that multiply start
/// them: within a step, once all have read the stage; they wait for them within the step before
/// their use.
constexpr double copied_ahead(std::int64_t stages) {
  return as_double(stages) - 1.5;
}

/// Products of mma.sync that a warp has under way.
inline constexpr double kUnrolledProducts = 4.5;

/// Of all warps at the end of a tile of so many sums, which are set to zero, converted, staged and
/// stored by TMA: by warp_instructions of gemm.wgmma.
constexpr double end_instructions(double sums) {
  constexpr double kOfTile = 600, kOfSum = 3.5;
  return kOfTile + kOfSum * sums / as_double(kWarpLanes);
}

/// Share of the pairs of blocks that ask L2 for the same lines at about the same time, so that it
/// looks once for both. Blocks that copy by TMA drift apart, step by step: by l2_lookup_read_bytes
/// of products on 132 SMs half of the pairs are left after so many steps of an SM.
constexpr double in_step_share(double steps_of_sm) {
  constexpr double kStepsInStep = 2500;
  return kStepsInStep / (kStepsInStep + steps_of_sm);
}
/// Of a step of mma.sync by so many warps of a block: its tiles, the first operands from shared
/// memory, and the first product, whose latency is that of so many multiply-adds (33 cycles:
/// arXiv:2402.13499). A scheduler's only warp waits for later operands too, where of two the other
/// multiplies meanwhile.
inline constexpr double kProductWaits = 8;
constexpr Waits mma_waits(double warps) {
  constexpr double kSchedulers = 4, kOperands = 2;
  return {.tile_loads = 1,
          .shared = warps > kSchedulers ? kOperands : 2 * kOperands,
          .arithmetic = kProductWaits,
          .barriers = 1};
}

/// Blocks of a launch that an SM holds, by shared memory and registers; 1 where no rules are known.
std::int64_t resident_blocks(const Launch&, const Gpu&);

/// Arrays of a program.
enum Array : ArrayId { kA, kB, kC, kParts, kCopyOfA, kCopyOfB };

/// Row-major matrices of elements of `size` bytes.
struct Matrix {
  std::int64_t rows, columns, size, count = 1;
  double bytes() const { return as_double(count) * as_double(rows) * as_double(columns * size); }
};

/// The launches of kernels/gemm/passes.cu: rows to rows that are multiples of 128 bytes, the
/// transpose, and C from the sums of parts.
Plan copy_of_rows(const Matrix&, const ArrayUse& from, ArrayId to);
/// Rows of the matrix begin `pitch_bytes` apart; 0: at sectors.
Plan transposed_copy(const Matrix&, const ArrayUse& from, ArrayId to, std::int64_t pitch_bytes = 0);
Plan sum_of_parts(const Problem&);

/// C as tiles store it, a line of each of many rows: DRAM takes each line by itself.
ArrayUse writes_tiles(ArrayId array, double bytes);

/// What the product's launch reads. A box is copied in pieces, one of each row.
struct Operands {
  struct Side {
    ArrayUse use;
    double sectors = 1;   ///< of a piece, as a multiple of one that begins at a line
    double of_pair = 1;   ///< of two neighbours' copies of 16 bytes each
    double requests = 2;  ///< of the copy engine for a piece
    double joined = 1;    ///< as joined_share
  };
  Side a, b;
};
/// Of so many blocks that read an operand, those for which L2 does not look again: one of each pair
/// in step.
double joined_blocks(const Operands::Side& side, std::int64_t blocks, double in_step);
/// Share of rows so far apart that L2 looks up once for two blocks in step: by the times of tiles
/// of 64 rows half where they begin off lines, none off sectors.
double joined_share(std::int64_t pitch_bytes);
/// Sectors that a piece of so many bytes touches on average, of rows that begin so far apart.
double sectors_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// Those, as a multiple of the sectors of a piece that begins at one.
double sectors_share(std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// What the copy engine (TMA) asks L2 for a piece, on average: 64 bytes at once, but sector by
/// sector where the piece begins within one (pieces of 128 bytes, one SM: 1.61, 2.03 and 3.00
/// clocks where rows begin at multiples of 128, 32 and 16 bytes).
double requests_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// Lines, likewise; and the share of such rows that begin within a sector.
double lines_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes);
double off_sector_share(std::int64_t pitch_bytes);
/// The use with the density of copies that take so many bytes of each of many rows: where rows do
/// not begin at lines, a copy shares its first and last line with others (tiles of 64 to 128 rows
/// on both GPUs: 128 bytes at 0.90 of a stream's rate where rows begin at lines, at 0.82 and 0.80
/// where they begin at odd multiples of 64 and 16 bytes).
ArrayUse in_pieces(ArrayUse use, std::int64_t piece_bytes, std::int64_t pitch_bytes);
/// Of an operand whose rows are so many bytes apart.
Operands::Side operand(const ArrayUse& use, std::int64_t pitch_bytes,
                       std::int64_t piece_bytes = kTileLineBytes);
/// Operands whose rows are no multiples of 16 bytes are copied, and A stored by rows of k, and B so
/// stored where the kernel reads along k only.
Operands operands_of(const Problem&, bool b_along_k, std::int64_t piece_bytes = kTileLineBytes);
/// The launches that copy them.
LaunchSequence copies_before(const Problem&, bool b_along_k);

}  // namespace roofcast::gemm::tensor
