#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/libraries/rows.hpp"
#include "model/types/compilation.hpp"

namespace roofcast::softmax {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 30;

// Of each element: the maximum; x - max, exp and sum; x - max, exp and the quotient. Instructions
// by the machine code of the same algorithms (CUDA 13.0, compute capability 9.0): of a row that a
// warp holds the exponential comes once. A quotient is refined and checked before the next one
// begins.
constexpr Work kEach = vector_work(4, 3);  // two exponentials, one reciprocal
constexpr double kOfMaximum = 2.5, kOfExponential = 11, kOfQuotient = 14;
constexpr double kQuotientChain = 12, kSumChain = 2;  // dependent operations
// Of each thread: addresses and loop control, and what follows the loops.
constexpr double kOfLoop = 5, kInstructionsPerSweep = 25;
constexpr double kOfHeld = 20, kInstructionsOfWarp = 75;  // of rows that a warp holds

// ptxas -v of CUDA 13.0, of kernels written after the same algorithm, for compute
// capability 7.5 (the oldest it compiles for) and 8.0.
constexpr std::array kBlockRegisters = {Compilation{7, 36}, Compilation{8, 31}};
// Rows of up to 32, 64 … 2048 elements.
constexpr std::array<std::int64_t, 7> kWarpRegisters = {20, 26, 32, 32, 40, 56, 80};

// x in and y out, and the arithmetic between them.
void set_arrays(Plan& plan, const Problem& problem, ArrayId x) {
  const double n = as_double(problem[rows::kRows]) * as_double(problem[rows::kCols]);
  const double bytes = n * size_bytes(problem.dtype);
  plan.useful = n * kEach;
  plan.arrays = {reads_activation(x, bytes), writes(x + 1, bytes)};
}

// 4 warps a block; rows of up to 128 elements two to a warp, shorter ones than a warp is wide
// side by side in it.
Plan warp_plan(const Problem& problem, ArrayId x) {
  const std::int64_t cols = problem[rows::kCols];
  const std::int64_t width = power_of_two_from(cols);
  const std::int64_t in_warp = std::min(width, rows::kWarp);
  const std::int64_t per_block =
      rows::kWarpsPerBlock * (rows::kWarp / in_warp) * (width <= 128 ? 2 : 1);
  std::size_t size = 0;
  for (std::int64_t held = rows::kWarp; held < width; held *= 2) ++size;
  Plan plan =
      launch_plan(ceil_div(problem[rows::kRows], per_block),
                  {in_warp, rows::kWarpsPerBlock * rows::kWarp / in_warp, 1}, kWarpRegisters[size]);
  set_arrays(plan, problem, x);
  plan.on_chip_bytes = as_double(per_block * cols) * size_bytes(problem.dtype);

  Step step;
  const double elements =
      as_double(problem[rows::kRows]) * as_double(cols) / as_double(plan.launch.blocks());
  step.issued = elements * kEach;
  const double bytes = elements * size_bytes(problem.dtype);
  set_traffic(step.issued, {bytes, bytes});
  // Lanes go through as many elements as the next power of two has.
  const double of_lane =
      as_double(per_block * width) / as_double(rows::kWarpsPerBlock * rows::kWarp);
  step.warp_instructions =
      as_double(rows::kWarpsPerBlock) * (of_lane * (kOfHeld + kOfQuotient) + kInstructionsOfWarp);
  step.waits.global = 1;
  step.waits.arithmetic = of_lane * (kSumChain + kQuotientChain);
  step.waits.shared = 10;  // two reductions of five shuffles, as far away as shared memory
  set_blocks(plan, {{step}});
  return plan;
}

/// How a block takes a row.
struct RowBlock {
  std::int64_t threads;
  bool in_registers, in_shared;  ///< where it keeps the row from the first sweep on; else nowhere
  bool by_shuffles;              ///< its reductions, else through shared memory alone

  bool holds() const { return in_registers || in_shared; }
};

RowBlock block_of(const Problem& problem, std::int64_t width) {
  constexpr std::int64_t kMostInRegisters = 9 * rows::kMaxThreads, kSharedBytes = 48 * 1024 - 128;
  const std::int64_t cols = problem[rows::kCols];
  if (problem[kRelease] == k2_1) {
    // As many threads as half of the vectors of a row, so that at least half of it goes by vectors.
    const std::int64_t half = std::min(cols / width, rows::kMaxThreads) / 2;
    return {std::max(rows::kWarp, power_of_two_from(half)), false, false, false};
  }
  const bool in_registers = cols <= kMostInRegisters;
  const bool fits = cols * element_bytes(problem.dtype) < kSharedBytes && cols % width == 0;
  return {rows::kMaxThreads, in_registers, !in_registers && fits, true};
}

// Of a value of each thread. Through shared memory every thread writes it; each lane of the first
// warp adds the 32 values of one warp, which lie in one bank; one thread adds those. By shuffles a
// warp adds its own, the first warp those of all.
Step reduction_of(const RowBlock& block) {
  const double warps = warps_of(block.threads);
  Step step;
  step.warp_instructions = warps * kInstructionsPerSweep;
  if (block.by_shuffles) {
    step.warp_instructions += (warps + 1) * 15;
    step.wavefronts.shared = warps + 2;
    step.waits = {.shared = 12, .arithmetic = 10, .barriers = 3};
    return step;
  }
  step.warp_instructions += 10 * warps + 3 * 32 + 3 * warps;
  step.wavefronts.shared = warps + 32 * warps + 2 * warps + 1;
  step.waits = {.shared = 3 + warps / 4, .arithmetic = 32 + warps, .barriers = 4};
  return step;
}

// Loads that a thread waits for, one after the other: whole vectors, each after the one before;
// then single elements together; one more where a row starts off a 16-byte boundary. What registers
// hold is loaded at once.
double accesses_of(const RowBlock& block, std::int64_t cols, std::int64_t width) {
  if (block.in_registers) return 1;
  const std::int64_t in_vectors = width * block.threads, vectors = cols / in_vectors;
  return as_double(vectors + (cols % in_vectors != 0 ? 1 : 0) + (cols % width != 0 ? 1 : 0));
}

Plan block_plan(const Problem& problem, const Gpu& gpu) {
  const double element = size_bytes(problem.dtype);
  const std::int64_t width = rows::kVectorBytes / static_cast<std::int64_t>(element);
  const std::int64_t cols = problem[rows::kCols];
  const RowBlock block = block_of(problem, width);
  const double warps = warps_of(block.threads), row_bytes = as_double(cols) * element;

  const std::int64_t shared_bytes = (block.by_shuffles ? 128 : block.threads * 4) +
                                    (block.in_shared ? static_cast<std::int64_t>(row_bytes) : 0);
  Plan plan = launch_plan(problem[rows::kRows], {block.threads, 1, 1},
                          compiled_for(gpu, kBlockRegisters).registers, shared_bytes);
  set_arrays(plan, problem, 0);
  if (block.holds()) {
    plan.on_chip_bytes = row_bytes;
  } else {
    const double all = plan.arrays[0].footprint.read_bytes;
    plan.reuse = {library::reread(all, row_bytes),
                  library::reread(all, row_bytes, library::kNextReread)};
    plan.notes.traffic_reasons.push_back(
        {Level::requested, "three sweeps over a row: maximum, sum, result"});
  }

  // An access of all threads, in each sweep: x comes, and with the last one y leaves.
  const double accesses = accesses_of(block, cols, width);
  const double elements = as_double(cols) / accesses, bytes = row_bytes / accesses;
  const auto sweep = [&](const library::Swept& of, bool reads, bool writes) {
    Step step =
        library::sweep_step(of, elements, block.threads, {reads ? bytes : 0, writes ? bytes : 0});
    step.warp_instructions += warps * kOfLoop;
    return step;
  };
  const bool again = !block.holds();
  const Step largest = sweep({1, 0, kOfMaximum, 0}, true, false);
  const Step sum = sweep({1, 1, kOfExponential, kSumChain}, again, false);
  const Step result = sweep({2, 2, kOfExponential + kOfQuotient, kQuotientChain}, again, true);
  const Step reduction = reduction_of(block);
  set_blocks(plan,
             {{largest, accesses}, {reduction}, {sum, accesses}, {reduction}, {result, accesses}});
  return plan;
}

}  // namespace

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu) {
  const std::int64_t most_in_warp = problem[kRelease] == k2_1 ? 1024 : 2048;
  if (problem[rows::kCols] > most_in_warp) return launch_of(block_plan(problem, gpu));
  // A launch covers at most kMostElements; the rest follows in further ones.
  const std::int64_t in_launch = kMostElements / problem[rows::kCols];
  const std::int64_t full = problem[rows::kRows] / in_launch;
  LaunchSequence program;
  const auto add = [&](std::int64_t launches, std::int64_t row_count) {
    if (launches == 0 || row_count == 0) return;
    Problem part = problem;
    part[rows::kRows] = row_count;
    const auto arrays_before = static_cast<ArrayId>(2 * program.size());
    program.push_back({warp_plan(part, arrays_before), as_double(launches)});
  };
  add(full, in_launch);
  add(1, problem[rows::kRows] - full * in_launch);
  return program;
}

}  // namespace roofcast::softmax
