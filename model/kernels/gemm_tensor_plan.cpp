#include "model/kernels/gemm_tensor_plan.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace roofcast::gemm::tensor {

Sizes::Sizes(const Problem& p)
    : m(as_double(p[kM])),
      n(as_double(p[kN])),
      k(as_double(p[kK])),
      element(size_bytes(p.dtype)),
      result(size_bytes(result_type(p.dtype))) {}

double partial_bytes(const Problem& p) {
  const Sizes s(p);
  return p[kSplitK] > 1 ? as_double(p[kSplitK] * kPartBytes) * s.m * s.n : 0;
}

Work product_work(const Problem& p) {
  const Sizes s(p);
  Work work;
  work.tensor_flops[p.dtype] = 2 * s.m * s.n * s.k;
  work.compulsory = {s.a() + s.b(), s.c()};
  return work;
}

void require_tensor_cores(const Problem& p, const Gpu& gpu) {
  if (gpu.sm.tensor_flop_per_clk[p.dtype]) return;
  throw InputError(gpu.name + " has no tensor cores for " + std::string(name(p.dtype)) +
                   ": choose another type (`roofcast gpus " + gpu.name + "`)");
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

std::vector<std::int64_t> splits_of(const Problem& p, std::int64_t steps, std::int64_t blocks,
                                    std::int64_t slots) {
  if (p[kSplitK] != kToChoose) return {p[kSplitK]};
  constexpr std::int64_t kLeastSteps = 3;
  std::vector<std::int64_t> parts = {1};
  for (const std::int64_t split : {2, 3, 4, 6, 8, 12, 16}) {
    if (steps < kLeastSteps * split || blocks * (split - 1) >= 2 * slots) break;
    parts.push_back(split);
  }
  return parts;
}

Plan copy_of_rows(const Matrix& matrix, const ArrayUse& from, ArrayId to) {
  Plan plan;
  const std::int64_t width = kVectorBytes / matrix.size;
  plan.launch.grid = {ceil_div(matrix.columns, passes::kThreads * width),
                      std::min(ceil_div(matrix.rows, passes::kRowsEach), passes::kMostY), 1};
  plan.launch.block = {passes::kThreads, 1, 1};
  plan.launch.registers = matrix.size == 4 ? 40 : 48;  // ptxas -v, 2026-11-22
  plan.arrays = {from, scratch(to, {0, matrix.bytes()})};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  // Five words for sixteen bytes, then shifts and one store: by the instructions in the source.
  constexpr double kInstructionsPerVector = 16;
  step.warp_instructions =
      matrix.bytes() / as_double(kVectorBytes) / 32 / blocks * kInstructionsPerVector;
  step.issued.requested = {matrix.bytes() * 1.25 / blocks, matrix.bytes() / blocks};
  step.issued.l1 = step.issued.l2 = {matrix.bytes() / blocks, matrix.bytes() / blocks};
  step.waits.global = 1;
  set_blocks(plan, {{step}});
  plan.estimated_traffic = true;
  return plan;
}

Plan transposed_copy(const Matrix& matrix, const ArrayUse& from, ArrayId to) {
  Plan plan;
  plan.launch.grid = {ceil_div(matrix.columns, passes::kSquare),
                      std::min(ceil_div(matrix.rows, passes::kSquare), passes::kMostY), 1};
  plan.launch.block = {passes::kSquare, 8, 1};
  plan.launch.registers = 32;
  plan.launch.shared_bytes = passes::kSquare * (passes::kSquare + 1) * matrix.size;
  plan.arrays = {from, scratch(to, {0, matrix.bytes()})};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  // As transpose.padded's element by element: 231 of a warp for 4 rows of 32.
  constexpr double kInstructionsPerRow = 231.0 / 4;
  step.warp_instructions =
      matrix.bytes() / as_double(matrix.size) / 32 / blocks * kInstructionsPerRow;
  set_traffic(step.issued, {matrix.bytes() / blocks, matrix.bytes() / blocks});
  step.waits = {.global = 1, .shared = 1, .barriers = 1};
  set_blocks(plan, {{step}});
  plan.estimated_traffic = true;
  return plan;
}

Plan sum_of_parts(const Problem& p) {
  const Sizes s(p);
  const double parts = partial_bytes(p), outputs = s.m * s.n;
  Plan plan;
  plan.launch.grid = {ceil_div(p[kN], passes::kThreads), std::min(p[kM], passes::kMostY), 1};
  plan.launch.block = {passes::kThreads, 1, 1};
  plan.launch.registers = 26;
  plan.useful.vector_flops = outputs * as_double(p[kSplitK] - 1);
  plan.arrays = {scratch(kParts, {parts, 0}), writes(kC, s.c())};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.issued.vector_flops = plan.useful.vector_flops / blocks;
  // A load and an addition for each part, and what surrounds them.
  step.warp_instructions = outputs / blocks / 32 * (2 * as_double(p[kSplitK]) + 12);
  set_traffic(step.issued, {parts / blocks, s.c() / blocks});
  step.waits.global = 1;
  set_blocks(plan, {{step}});
  plan.estimated_traffic = true;
  return plan;
}

namespace {

// Units that a piece of 128 bytes touches: rows so far apart begin at every multiple of the greatest
// common divisor of their distance and the unit, one of so many at a unit's.
double units_of_piece(std::int64_t pitch_bytes, std::int64_t unit_bytes) {
  const std::int64_t step = std::gcd(pitch_bytes, unit_bytes);
  return as_double(kTileLineBytes / unit_bytes) + 1 - as_double(step) / as_double(unit_bytes);
}

}  // namespace

Operands::Side operand(const ArrayUse& use, std::int64_t pitch_bytes) {
  return {use, units_of_piece(pitch_bytes, kTileLineBytes), units_of_piece(pitch_bytes, 32)};
}

Operands add_operands(Program& program, const Problem& p, bool b_along_k) {
  const Sizes s(p);
  const std::int64_t size = element_bytes(p.dtype);
  Operands all{operand(reads_activation(kA, s.a()), p[kK] * size), {}};
  if (p[kK] * size % kVectorBytes != 0) {
    program.push_back({copy_of_rows({p[kM], p[kK], size}, all.a.use, kCopyOfA)});
    all.a = {scratch(kCopyOfA, {s.a(), 0})};
  }
  const bool transposed = p[kTransposedB] != 0, turned = b_along_k && !transposed;
  const Matrix stored = transposed ? Matrix{p[kN], p[kK], size} : Matrix{p[kK], p[kN], size};
  all.b = operand(reads(kB, s.b()), stored.columns * size);
  if (turned || stored.columns * size % kVectorBytes != 0) {
    program.push_back({turned ? transposed_copy(stored, all.b.use, kCopyOfB)
                              : copy_of_rows(stored, all.b.use, kCopyOfB)});
    all.b = {scratch(kCopyOfB, {s.b(), 0})};
  }
  return all;
}

}  // namespace roofcast::gemm::tensor
