#include "model/kernels/softmax_library.hpp"

#include <algorithm>
#include <array>

#include "model/kernels/library_rows.hpp"

namespace roofcast::softmax {
namespace {

constexpr std::int64_t kMostInWarp = 1024;
constexpr std::int64_t kMostElements = std::int64_t{1} << 30;
constexpr double kSweeps = 3;

// Of each element: the maximum; x - max, exp and sum; x - max, exp and the quotient. Instructions
// by the PTX of CUDA 13.0 for the same loops, a division taken as nine.
constexpr double kFlops = 4;
constexpr double kSpecial = 3;  // two exponentials, one reciprocal
constexpr double kInstructions = 33;
// Of each thread: addresses, loop control and what follows the loops.
constexpr double kInstructionsPerSweep = 25;

// ptxas -v of CUDA 13.0, 2026-11-21, of kernels written after the same algorithm, for sm_75 (the
// oldest it compiles for) and sm_80.
constexpr std::array kBlockRegisters = {library::Compilation{7, 36}, library::Compilation{8, 31}};
// Rows of up to 32, 64 … 1024 elements.
constexpr std::array<std::int64_t, 6> kWarpRegisters = {20, 26, 32, 32, 40, 56};

Work work_of(double rows, double cols, double element, double sweeps) {
  Work work;
  const double n = rows * cols;
  work.vector_flops = n * kFlops;
  work.special_flops = n * kSpecial;
  work.compulsory = {n * element, n * element};
  work.dram_footprint = work.compulsory;
  work.requested = work.l1 = work.l2 = {sweeps * n * element, n * element};
  return work;
}

// 4 warps a block; rows of up to 128 elements two to a warp, shorter ones than a warp is wide
// side by side in it.
Plan warp_plan(const Problem& problem) {
  const std::int64_t cols = problem[rows::kCols];
  const std::int64_t width = rows::power_of_two_from(cols);
  const std::int64_t in_warp = std::min(width, rows::kWarp);
  const std::int64_t per_block =
      rows::kWarpsPerBlock * (rows::kWarp / in_warp) * (width <= 128 ? 2 : 1);
  const double element = size_bytes(problem.dtype);
  const auto row_count = static_cast<double>(problem[rows::kRows]);
  const auto row = static_cast<double>(cols);

  Plan plan;
  plan.launch.grid[0] = rows::ceil_div(problem[rows::kRows], per_block);
  plan.launch.block = {in_warp, rows::kWarpsPerBlock * rows::kWarp / in_warp, 1};
  std::size_t size = 0;
  for (std::int64_t held = rows::kWarp; held < width; held *= 2) ++size;
  plan.launch.registers = kWarpRegisters[size];
  plan.total = work_of(row_count, row, element, 1);
  plan.on_chip_bytes = static_cast<double>(per_block) * row * element;

  const double elements = static_cast<double>(per_block) * row;
  plan.block.steps = 0;
  Step& once = plan.block.once;
  once.vector_flops = elements * kFlops;
  once.special_ops = elements * kSpecial;
  once.instructions = elements / 32 * kInstructions +
                      static_cast<double>(rows::kWarpsPerBlock) * kInstructionsPerSweep;
  once.l2_bytes = 2 * elements * element;
  once.global_round_trips = 1;
  once.shared_round_trips = 10;  // two reductions of five shuffles, as far away as shared memory
  return plan;
}

// As many threads as half of the vectors of a row, so that at least half of it goes by vectors.
std::int64_t threads_of(std::int64_t cols, std::int64_t width) {
  const std::int64_t half = std::min(cols / width, rows::kMaxThreads) / 2;
  return std::max(rows::kWarp, rows::power_of_two_from(half));
}

// A block reduction: every thread writes to shared memory; each lane of the first warp adds the 32
// values of one warp, which lie in one bank; one thread adds those.
void add_reduction(Step& once, double warps) {
  once.shared_wavefronts += warps + 32 * warps + 2 * warps + 1;
  once.shared_round_trips += 3 + warps / 4;
  once.dependent_fmas += 32 + warps;
  once.barriers += 4;
  once.instructions += 10 * warps + 3 * 32 + 3 * warps;
}

Plan block_plan(const Problem& problem, const Gpu& gpu) {
  const double element = size_bytes(problem.dtype);
  const std::int64_t width = rows::kVectorBytes / static_cast<std::int64_t>(element);
  const std::int64_t cols = problem[rows::kCols];
  const std::int64_t threads = threads_of(cols, width);
  const auto warps = static_cast<double>(threads / rows::kWarp);
  const auto row = static_cast<double>(cols);
  const double row_bytes = row * element;

  Plan plan;
  plan.launch.grid[0] = problem[rows::kRows];
  plan.launch.block[0] = threads;
  plan.launch.registers = library::registers_for(kBlockRegisters, gpu);
  plan.launch.shared_bytes = threads * 4;
  plan.total = work_of(static_cast<double>(problem[rows::kRows]), row, element, kSweeps);
  plan.rereads = {{.bytes = row_bytes, .distance_bytes = library::kFirstReread * row_bytes},
                  {.bytes = row_bytes, .distance_bytes = library::kNextReread * row_bytes}};
  plan.traffic_reasons.push_back(
      {Level::requested, "three sweeps over a row: maximum, sum, result"});

  // Whole vectors for all threads, then one element each; each access waits for the one before.
  // A row that starts off a 16-byte boundary has one more.
  const std::int64_t vectors = cols / (width * threads);
  const std::int64_t singles = rows::ceil_div(cols - vectors * width * threads, threads);
  const std::int64_t accesses = vectors + singles + (cols % width != 0 ? 1 : 0);
  plan.block.steps = 0;
  Step& once = plan.block.once;
  once.vector_flops = row * kFlops;
  once.special_ops = row * kSpecial;
  once.instructions =
      row / 32 * kInstructions +
      kSweeps * warps * (kInstructionsPerSweep + 6.0 * static_cast<double>(accesses));
  once.l2_bytes = (kSweeps + 1) * row_bytes;
  once.global_round_trips = kSweeps * static_cast<double>(accesses);
  add_reduction(once, warps);
  add_reduction(once, warps);
  return plan;
}

}  // namespace

Plans plan_library(const Problem& problem, const Gpu& gpu) {
  if (problem[rows::kCols] > kMostInWarp) return {block_plan(problem, gpu)};
  // A launch covers at most kMostElements; the rest follows in further ones.
  const std::int64_t in_launch = kMostElements / problem[rows::kCols];
  const std::int64_t full = problem[rows::kRows] / in_launch;
  Plans plans;
  const auto add = [&](std::int64_t launches, std::int64_t row_count) {
    if (launches == 0 || row_count == 0) return;
    Problem part = problem;
    part[rows::kRows] = row_count;
    plans.push_back(warp_plan(part));
    plans.back().repeats = static_cast<double>(launches);
  };
  add(full, in_launch);
  add(1, problem[rows::kRows] - full * in_launch);
  return plans;
}

}  // namespace roofcast::softmax
