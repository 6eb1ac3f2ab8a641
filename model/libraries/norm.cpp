#include "model/libraries/norm.hpp"

#include <array>

#include "model/kernels/common/plan_parts.hpp"
#include "model/types/compilation.hpp"

namespace roofcast::norm {
namespace {

constexpr std::int64_t kVector = 4;  // elements, whatever their type
constexpr std::int64_t kThreads = 128;
constexpr double kWarps = 4;

// ptxas -v of CUDA 13.0, of a kernel written after the same algorithm, for compute
// capability 8.0, 9.0 and 10.0. For 7.5 it says 51; what one of 7.0 reads again agrees with 39.
constexpr std::array kRegisters = {Compilation{7, 39}, Compilation{9, 32}, Compilation{10, 42}};

// Welford's update of mean and squared deviations: four instructions of arithmetic and a
// reciprocal of ten; a square and a sum for the root mean square.
struct Statistics {
  double flops;
  double special;
  double instructions;
  double chain;         ///< dependent operations an element
  double combine;       ///< the same to join two threads' statistics
  double row_values;    ///< fp32 written for each row
  double gamma_arrays;  ///< rows of parameters read: γ, β
};
constexpr Statistics kLayernorm = {7, 1, 14, 2, 14, 2, 2};
constexpr Statistics kRmsnorm = {2, 0, 1, 1, 2, 1, 1};

// Of the result: (x - mean) · rstd · γ + β.
constexpr double kResultFlops = 4;
constexpr double kResultInstructions = 6.5;

constexpr double kInstructionsPerThread = 60;
constexpr double kShuffles = 5;  // levels of a warp's reduction, then two among four warps
constexpr double kLevels = 7;

enum : ArrayId { kX, kGammaBeta, kMoments, kResult };

Plan vector_plan(const Problem& problem, const Statistics& kind, const Gpu& gpu) {
  const double element = size_bytes(problem.dtype);
  const auto row_count = static_cast<double>(problem[rows::kRows]);
  const auto row = static_cast<double>(problem[rows::kCols]);
  const double row_bytes = row * element;
  const double n = row_count * row;
  const double parameter_bytes = kind.gamma_arrays * row_bytes;

  Plan plan;
  plan.launch.grid[0] = problem[rows::kRows];
  plan.launch.block = {rows::kWarp, kThreads / rows::kWarp, 1};
  plan.launch.registers = compiled_for(gpu, kRegisters).registers;
  plan.launch.shared_bytes = 24;
  plan.useful.vector_flops = n * (kind.flops + kResultFlops);
  plan.useful.special_flops = n * kind.special;
  plan.arrays = {reads_activation(kX, n * element), reads(kGammaBeta, parameter_bytes),
                 writes(kMoments, row_count * kind.row_values * 4), writes(kResult, n * element)};
  plan.reuse = {library::reread(n * element, row_bytes),
                library::parameter_reuse(row_count, parameter_bytes, row_bytes)};
  plan.notes.traffic_reasons.push_back(
      {Level::requested, "two sweeps over a row: moments, result"});

  const std::int64_t accesses = rows::ceil_div(problem[rows::kCols], kThreads * kVector);
  Step step;
  step.issued.vector_flops = row * (kind.flops + kResultFlops);
  step.issued.special_flops = row * kind.special;
  set_traffic(step.issued, {2 * row_bytes + parameter_bytes, row_bytes + kind.row_values * 4});
  step.warp_instructions = row / 32 * (kind.instructions + kResultInstructions) +
                           kWarps * (kInstructionsPerThread + kShuffles * (3 + kind.combine));
  step.waits = {
      // The first sweep loads four vectors before it uses one where it has as many; the second must
      // not load before the store that precedes.
      .global = as_double(ceil_div(accesses, 4) + accesses),
      .shared = kShuffles + 3,
      .arithmetic = row / kThreads * kind.chain + kLevels * kind.combine,
      .barriers = 5};
  set_blocks(plan, {{step}});
  return plan;
}

// The row scalars, one element a thread at a time.
Plan scalar_sweep(const Problem& problem, const Statistics& kind, bool result) {
  constexpr std::int64_t kMomentThreads = 512;
  constexpr std::int64_t kResultThreads = 256;
  const double element = size_bytes(problem.dtype);
  const auto row_count = static_cast<double>(problem[rows::kRows]);
  const auto row = static_cast<double>(problem[rows::kCols]);
  const double n = row_count * row;
  const double row_values = row_count * kind.row_values * 4;
  const double parameter_bytes = result ? kind.gamma_arrays * row * element : 0;
  const std::int64_t threads = result ? kResultThreads : kMomentThreads;

  Plan plan;
  plan.launch.grid[0] = problem[rows::kRows];
  plan.launch.block[0] = threads;
  plan.launch.registers = 32;
  plan.useful.vector_flops = n * (result ? kResultFlops : kind.flops);
  plan.useful.special_flops = result ? 0 : n * kind.special;
  if (result) {
    plan.arrays = {scratch(kX, {n * element, 0}), reads(kGammaBeta, parameter_bytes),
                   scratch(kMoments, {row_values, 0}), writes(kResult, n * element)};
    plan.reuse = {library::parameter_reuse(row_count, parameter_bytes, row * element)};
  } else {
    plan.arrays = {reads_activation(kX, n * element), writes(kMoments, row_values)};
  }

  const double warps = warps_of(threads);
  Step step;
  step.issued.vector_flops = row * (result ? kResultFlops : kind.flops);
  step.issued.special_flops = result ? 0 : row * kind.special;
  const double moments = kind.row_values * 4;
  set_traffic(step.issued, {row * element + parameter_bytes + (result ? moments : 0),
                            result ? row * element : moments});
  step.warp_instructions = row / 32 * (6 + (result ? kResultInstructions : kind.instructions)) +
                           warps * kInstructionsPerThread;
  step.waits = {.global = as_double(rows::ceil_div(problem[rows::kCols], threads)),
                .shared = result ? 0 : 2 * kShuffles,
                .barriers = result ? 0.0 : 2.0};
  set_blocks(plan, {{step}});
  plan.notes.caveat = "rows that are no multiple of four elements: registers are an estimate";
  return plan;
}

}  // namespace

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu) {
  const Statistics& kind = problem[kLibraryKind] == kLibraryRmsnorm ? kRmsnorm : kLayernorm;
  if (problem[rows::kCols] % kVector == 0) {
    Plan plan = vector_plan(problem, kind, gpu);
    if (problem[kLibraryKind] == kLibraryRmsnorm) {
      plan.notes.caveat =
          "rmsnorm as the fused kernel of later versions, never held against a measurement";
    }
    return launch_of(std::move(plan));
  }
  return {{scalar_sweep(problem, kind, false)}, {scalar_sweep(problem, kind, true)}};
}

}  // namespace roofcast::norm
