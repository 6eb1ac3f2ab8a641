#include "model/libraries/norm.hpp"

#include <array>

#include "model/counting/coalescing.hpp"
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

// What a row's elements take, by the machine code of the same algorithms (CUDA 13.0, compute
// capability 9.0). Welford's update of mean and squared deviations divides: its reciprocal is
// refined and checked before the next element begins.
struct Statistics {
  double flops;
  double special;
  double instructions;  ///< of an element
  double chain;         ///< dependent operations of it
  double combine;       ///< instructions to join two threads' statistics, shuffles with them
  double combine_chain;
  double result_instructions;  ///< of an element: (x - mean) · rstd · γ + β
  double row_values;           ///< fp32 written for each row
  double gamma_arrays;         ///< rows of parameters read: γ, β
};
constexpr Statistics kLayernorm = {.flops = 7,
                                   .special = 1,
                                   .instructions = 18,
                                   .chain = 8,
                                   .combine = 31,
                                   .combine_chain = 14,
                                   .result_instructions = 10,
                                   .row_values = 2,
                                   .gamma_arrays = 2};
constexpr Statistics kRmsnorm = {.flops = 2,
                                 .special = 0,
                                 .instructions = 4,
                                 .chain = 1,
                                 .combine = 4,
                                 .combine_chain = 3,
                                 .result_instructions = 8,
                                 .row_values = 1,
                                 .gamma_arrays = 1};

constexpr double kResultFlops = 4;
constexpr double kInstructionsPerThread = 90;
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

  // An access of all threads, in either sweep. Neither loads a vector before it has used the last:
  // Welford's branches and the store stand between them. γ and β come an element at a time.
  const double accesses = as_double(rows::ceil_div(problem[rows::kCols], kThreads * kVector));
  const double elements = row / accesses, bytes = row_bytes / accesses;
  const double lines = bytes / as_double(kLineBytes);
  Step moments;
  moments.issued.vector_flops = elements * kind.flops;
  moments.issued.special_flops = elements * kind.special;
  set_traffic(moments.issued, {bytes, 0});
  moments.warp_instructions = elements / as_double(rows::kWarp) * kind.instructions;
  moments.wavefronts.l1 = lines;
  moments.waits = {.global = 1, .arithmetic = elements / kThreads * kind.chain};
  Step joined;
  joined.warp_instructions = kWarps * (kInstructionsPerThread + kShuffles * kind.combine);
  set_traffic(joined.issued, {0, kind.row_values * 4});
  joined.waits = {
      .shared = kShuffles + 3, .arithmetic = kLevels * kind.combine_chain, .barriers = 5};
  Step result;
  result.issued.vector_flops = elements * kResultFlops;
  set_traffic(result.issued, {(1 + kind.gamma_arrays) * bytes, bytes});
  result.warp_instructions = elements / as_double(rows::kWarp) * kind.result_instructions;
  result.wavefronts.l1 = lines * (2 + as_double(kVector) * kind.gamma_arrays);
  result.waits.global = 1;
  set_blocks(plan, {{moments, accesses}, {joined}, {result, accesses}});
  return plan;
}

// A sweep over rows that vectors do not fill, an element of each thread at a time: the moments, or
// the result.
Plan scalar_sweep(const Problem& problem, const Statistics& kind, bool result) {
  constexpr std::int64_t kMomentThreads = 512;
  constexpr std::int64_t kResultThreads = 256;
  constexpr double kOfMoment = 32, kOfResult = 33, kOfJoin = 37, kInstructionsOfThread = 45;
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

  // An element of each thread at a time, with its index.
  const double accesses = as_double(rows::ceil_div(problem[rows::kCols], threads));
  const double elements = row / accesses, bytes = elements * element;
  Step step;
  step.issued.vector_flops = elements * (result ? kResultFlops : kind.flops);
  step.issued.special_flops = result ? 0 : elements * kind.special;
  set_traffic(step.issued, {bytes + parameter_bytes / accesses, result ? bytes : 0});
  step.warp_instructions = elements / as_double(rows::kWarp) * (result ? kOfResult : kOfMoment);
  step.waits = {.global = 1, .arithmetic = result ? 0 : kLayernorm.chain};
  // A moment's threads join theirs by shuffles; the first warp then joins those of all warps.
  const double warps = warps_of(threads), moments = kind.row_values * 4;
  Step end;
  end.warp_instructions = warps * kInstructionsOfThread;
  if (result) {
    set_traffic(end.issued, {moments, 0});
  } else {
    set_traffic(end.issued, {0, moments});
    end.warp_instructions += (warps + 1) * kShuffles * kOfJoin;
    end.waits = {.shared = 2 * kShuffles,
                 .arithmetic = 2 * kShuffles * kLayernorm.combine_chain,
                 .barriers = 2};
  }
  set_blocks(plan, {{step, accesses}, {end}});
  plan.notes.caveat = "rows that are no multiple of four elements: registers are an estimate";
  return plan;
}

}  // namespace

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu) {
  const Statistics& kind = problem[kLibraryKind] == kLibraryRmsnorm ? kRmsnorm : kLayernorm;
  if (problem[rows::kCols] % kVector == 0) {
    return launch_of(vector_plan(problem, kind, gpu));
  }
  return {{scalar_sweep(problem, kind, false)}, {scalar_sweep(problem, kind, true)}};
}

}  // namespace roofcast::norm
