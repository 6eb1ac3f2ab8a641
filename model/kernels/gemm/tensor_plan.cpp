#include "model/kernels/gemm/tensor_plan.hpp"

#include <algorithm>
#include <limits>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::gemm::tensor {

Sizes::Sizes(const Problem& p)
    : m(as_double(p[kM])),
      n(as_double(p[kN])),
      k(as_double(p[kK])),
      batch(as_double(p[kBatch])),
      element(size_bytes(p.dtype)),
      result(size_bytes(result_type(p.dtype))) {
  if (rows_overlap(p)) throw InputError(overlapping_rows(p));
}

double partial_bytes(const Problem& p) {
  const Sizes s(p);
  return p[kSplitK] > 1 ? as_double(p[kSplitK] * kPartBytes) * s.batch * s.m * s.n : 0;
}

Work product_work(const Problem& p) {
  const Sizes s(p);
  Work work;
  work.tensor_flops[p.dtype] = s.flops();
  work.compulsory = {s.a() + s.b(), s.c()};
  return work;
}

IoComplexity product_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const Sizes s(p);
  return matrix_product_io(s.batch * s.m, s.n, s.k, s.element, compulsory_bytes, on_chip_bytes);
}

std::int64_t resident_blocks(const Launch& launch, const Gpu& gpu) {
  if (!gpu.occupancy) return 1;
  constexpr std::int64_t kRegisterUnit = 8;  // a thread's registers are given out so many at a time
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t registers = ceil_div(launch.registers, kRegisterUnit) * kRegisterUnit;
  const std::int64_t by_registers = rules.registers_per_sm / (registers * launch.threads());
  const std::int64_t by_shared =
      rules.shared_bytes_per_sm / (launch.shared_bytes + rules.shared_reserved_bytes_per_block);
  return std::max<std::int64_t>(1, std::min(by_registers, by_shared));
}

Plan copy_of_rows(const Matrix& matrix, const ArrayUse& from, ArrayId to) {
  Plan plan;
  const std::int64_t width = kVectorBytes / matrix.size;
  const std::int64_t groups = ceil_div(matrix.count * matrix.rows, passes::kRowsEach);
  plan.launch.grid = {ceil_div(matrix.columns, passes::kThreads * width),
                      std::min(groups, kMostBlocksYZ), 1};
  plan.launch.block = {passes::kThreads, 1, 1};
  const compiled::Kernel kernel = compiled::kernel("gemm::copy_kernel", matrix.size);
  plan.launch.registers = kernel.registers;
  plan.arrays = {from, scratch(to, {0, matrix.bytes()})};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  // A warp takes four rows at once: five words for sixteen bytes, then shifts and one store. The
  // warp with the ends of rows takes those by elements. By the counters of twelve copies.
  constexpr double kInstructionsOfRows = 178, kInstructionsOfEnd = 38;
  constexpr std::int64_t kWordBytes = 4;
  // The ends of rows go by elements, whose sectors neighbours have in L1. One in so many blocks
  // across has an end.
  const std::int64_t rest = matrix.columns % width, whole_words = ceil_div(kWordBytes, matrix.size);
  const bool one_more = rest < whole_words && matrix.columns >= width;
  const std::int64_t stores = one_more ? width + rest : rest;
  const double ends = as_double(passes::kRowsEach) / as_double(plan.launch.grid[0]);
  const double end_bytes =
      as_double(matrix.count * matrix.rows * stores) * (32 - as_double(matrix.size));
  const double warps = as_double(ceil_div(matrix.columns, width * kWarpLanes));
  step.warp_instructions =
      as_double(groups) / blocks *
          (warps * kInstructionsOfRows + as_double(width) * kInstructionsOfEnd) +
      warps / as_double(plan.launch.grid[0]) * kernel.straight;
  step.issued.requested = {matrix.bytes() * 1.25 / blocks, matrix.bytes() / blocks};
  step.issued.l1 =
      step.issued.l2 = {matrix.bytes() / blocks, (matrix.bytes() + end_bytes) / blocks};
  step.waits.global = 1;
  // The warp with the ends stores each element before it loads the next.
  step.waits.shared = ends * as_double(stores);
  set_blocks(plan, {{step}});
  plan.notes.estimated_traffic = true;
  return plan;
}

namespace {

// The greatest common divisor with a power of two.
constexpr std::int64_t common_divisor(std::int64_t pitch_bytes, std::int64_t unit_bytes) {
  const std::int64_t bits = pitch_bytes | unit_bytes;
  return bits & -bits;
}

// Units that a piece touches: pieces side by side in rows so far apart begin at every multiple of
// the greatest common divisor of their length, that distance and the unit.
double units_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes, std::int64_t unit_bytes) {
  const std::int64_t step = common_divisor(pitch_bytes | piece_bytes, unit_bytes);
  return as_double(piece_bytes + unit_bytes - step) / as_double(unit_bytes);
}

}  // namespace

Plan transposed_copy(const Matrix& matrix, const ArrayUse& from, ArrayId to,
                     std::int64_t pitch_bytes) {
  Plan plan;
  plan.launch.grid = {ceil_div(matrix.columns, passes::kSquare),
                      std::min(ceil_div(matrix.rows, passes::kSquare), kMostBlocksYZ),
                      matrix.count};
  plan.launch.block = {passes::kSquare, 8, 1};
  const compiled::Kernel kernel = compiled::kernel("gemm::transpose_kernel", matrix.size);
  plan.launch.registers = kernel.registers;
  plan.launch.shared_bytes = passes::kSquare * (passes::kSquare + 1) * matrix.size;
  plan.arrays = {from, scratch(to, {0, matrix.bytes()})};
  // A row of the copy is written by squares below each other.
  if (matrix.rows > passes::kSquare) {
    AccessPattern& stores = plan.arrays.back().pattern;
    stores.write_run_bytes = as_double(passes::kSquare * matrix.size);
    stores.blocks_to_next_run = as_double(plan.launch.grid[0]);
  }
  const double blocks = as_double(plan.launch.blocks());
  const double squares = as_double(plan.launch.grid[0] * plan.launch.grid[2] *
                                   ceil_div(matrix.rows, passes::kSquare)) /
                         blocks;
  Step step;
  step.warp_instructions =
      as_double(plan.launch.block[1]) * (kernel.straight + squares * kernel.loops.front());
  // Each row of a square goes to shared memory and comes back as a column.
  const double rows_moved = 2 * squares * as_double(passes::kSquare);
  step.wavefronts.l1_lookups = step.wavefronts.l1 = step.wavefronts.shared = rows_moved;
  // Rows of a square begin off sectors where those of the matrix do.
  const double apart =
      pitch_bytes > 0 ? sectors_share(passes::kSquare * matrix.size, pitch_bytes) : 1;
  set_traffic(step.issued, {matrix.bytes() / blocks, matrix.bytes() / blocks});
  step.issued.l1.read_bytes *= apart;
  step.issued.l2.read_bytes *= apart;
  step.waits = {.global = 1, .shared = 1, .barriers = 1};
  set_blocks(plan, {{step}});
  plan.notes.estimated_traffic = true;
  return plan;
}

// A thread adds the parts of an element in order: it loads four at once, waits for them, and takes
// those that are left one by one.
Plan sum_of_parts(const Problem& p) {
  constexpr std::int64_t kTogether = 4;
  const Sizes s(p);
  const std::int64_t parts = p[kSplitK];
  const double outputs = s.batch * s.m * s.n;
  Plan plan;
  plan.launch.grid = {ceil_div(p[kN], passes::kThreads), std::min(p[kBatch] * p[kM], kMostBlocksYZ),
                      1};
  plan.launch.block = {passes::kThreads, 1, 1};
  plan.launch.registers = compiled::registers("gemm::sum_kernel", result_type(p.dtype));
  plan.start = Start::code;
  plan.useful.vector_flops = outputs * as_double(parts - 1);
  plan.arrays = {scratch(kParts, {partial_bytes(p), 0}), writes(kC, s.c())};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.issued.vector_flops = plan.useful.vector_flops / blocks;
  // Of a sum: addresses of 64 bits and a loop over parts of unknown number, by warp_instructions of
  // products in 2 to 12 parts.
  constexpr double kOfPart = 4, kBeside = 95;
  step.warp_instructions = outputs / blocks / 32 * (kOfPart * as_double(parts) + kBeside);
  set_traffic(step.issued, {partial_bytes(p) / blocks, s.c() / blocks});
  step.waits.global = as_double(parts / kTogether + parts % kTogether);
  set_blocks(plan, {{step}});
  plan.notes.estimated_traffic = true;
  return plan;
}

namespace {

/// An operand, and what becomes of it.
struct Operand {
  Matrix matrix;
  ArrayUse use;
  std::int64_t pitch_bytes;
  bool turned;  ///< a transposed copy is read

  bool copied() const { return turned || pitch_bytes % kVectorBytes != 0; }
};

Matrix matrix_of(const Problem& p, const Stored& from) {
  return {from.rows, from.columns, element_bytes(p.dtype), p[kBatch]};
}
Operand operand_a(const Problem& p) {
  const Stored from = stored_a(p);
  const Matrix matrix = matrix_of(p, from);
  return {matrix, reads_activation(kA, matrix.bytes()), from.row * matrix.size,
          p[kTransposedA] != 0};
}
Operand operand_b(const Problem& p, bool b_along_k) {
  const Stored from = stored_b(p);
  const Matrix matrix = matrix_of(p, from);
  return {matrix, reads(kB, matrix.bytes()), from.row * matrix.size,
          b_along_k && p[kTransposedB] == 0};
}

Operands::Side side(const Operand& from, ArrayId copy, std::int64_t piece_bytes) {
  if (from.copied()) return {scratch(copy, {from.matrix.bytes(), 0})};
  return operand(from.use, from.pitch_bytes, piece_bytes);
}

void add_copy(LaunchSequence& program, const Operand& from, ArrayId to) {
  if (!from.copied()) return;
  Plan plan = from.turned ? transposed_copy(from.matrix, from.use, to, from.pitch_bytes)
                          : copy_of_rows(from.matrix, from.use, to);
  if (!program.empty()) plan.start = Start::code;
  program.push_back({std::move(plan)});
}

}  // namespace

double joined_blocks(const Operands::Side& side, std::int64_t blocks, double in_step) {
  return side.joined * in_step * as_double(blocks / 2);
}

double joined_share(std::int64_t pitch_bytes) {
  constexpr double kOffLines = 0.5;
  if (pitch_bytes % kTileLineBytes == 0) return 1;
  return pitch_bytes % kSectorBytes == 0 ? kOffLines : 0;
}

double sectors_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  return units_of_piece(piece_bytes, pitch_bytes, kSectorBytes);
}

double sectors_share(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  return sectors_of_piece(piece_bytes, pitch_bytes) * as_double(kSectorBytes) /
         as_double(piece_bytes);
}

double requests_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  const double off = off_sector_share(pitch_bytes);
  const std::int64_t at_sectors =
      std::max(common_divisor(pitch_bytes, kTileLineBytes), kSectorBytes);
  return off * as_double(piece_bytes / kSectorBytes + 1) +
         (1 - off) * units_of_piece(piece_bytes, at_sectors, 2 * kSectorBytes);
}

double lines_of_piece(std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  return units_of_piece(piece_bytes, pitch_bytes, kTileLineBytes);
}

ArrayUse writes_tiles(ArrayId array, double bytes) {
  ArrayUse use = writes(array, bytes);
  use.pattern.write_run_bytes = as_double(kTileLineBytes);
  use.pattern.blocks_to_next_run = std::numeric_limits<double>::infinity();
  return use;
}

ArrayUse in_pieces(ArrayUse use, std::int64_t piece_bytes, std::int64_t pitch_bytes) {
  const double lines = as_double(piece_bytes) / as_double(kTileLineBytes);
  use.pattern.read_density = kDensityOfLines * lines / lines_of_piece(piece_bytes, pitch_bytes);
  return use;
}

double off_sector_share(std::int64_t pitch_bytes) {
  return 1 - as_double(common_divisor(pitch_bytes, kSectorBytes)) / as_double(kSectorBytes);
}

Operands::Side operand(const ArrayUse& use, std::int64_t pitch_bytes, std::int64_t piece_bytes) {
  return {in_pieces(use, kTileLineBytes, pitch_bytes), sectors_share(piece_bytes, pitch_bytes),
          sectors_of_piece(kSectorBytes, pitch_bytes), requests_of_piece(piece_bytes, pitch_bytes),
          joined_share(pitch_bytes)};
}

Operands operands_of(const Problem& p, bool b_along_k, std::int64_t piece_bytes) {
  return {side(operand_a(p), kCopyOfA, piece_bytes),
          side(operand_b(p, b_along_k), kCopyOfB, piece_bytes)};
}

LaunchSequence copies_before(const Problem& p, bool b_along_k) {
  LaunchSequence program;
  add_copy(program, operand_a(p), kCopyOfA);
  add_copy(program, operand_b(p, b_along_k), kCopyOfB);
  return program;
}

}  // namespace roofcast::gemm::tensor
