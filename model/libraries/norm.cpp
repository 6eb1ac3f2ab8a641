#include <array>

#include "model/counting/coalescing.hpp"
#include "model/libraries/rows.hpp"
#include "model/types/compilation.hpp"

namespace roofcast::norm {
namespace {

using library::Swept;

// ptxas -v of CUDA 13.0, of a kernel written after the same algorithm, for compute
// capability 8.0, 9.0 and 10.0. For 7.5 it says 51; what one of 7.0 reads again agrees with 39.
constexpr std::array kRegisters = {Compilation{7, 39}, Compilation{9, 32}, Compilation{10, 42}};

// What a row takes, by the machine code of the same algorithms (CUDA 13.0, compute capability 9.0).
// Welford's update of mean and squared deviations divides: its reciprocal is refined and checked
// before the next element begins.
struct Statistics {
  Swept moments;
  Swept result;          // (x - mean) · rstd · γ + β
  double combine;        // instructions to join two threads' statistics, shuffles with them
  double combine_chain;  // dependent operations of it
  double arrays;         // γ, β; and as many fp32 values of each row are written
};
constexpr Statistics kLayernorm = {{7, 1, 18, 8}, {4, 0, 10, 0}, 31, 14, 2};
constexpr Statistics kRmsnorm = {{2, 0, 4, 1}, {4, 0, 8, 0}, 4, 3, 1};

constexpr std::int64_t kVector = 4;  // elements, whatever their type
constexpr double kShuffles = 5;      // levels of a warp's reduction

enum : ArrayId { kX, kGammaBeta, kMoments, kResult };

// Bytes of a problem's arrays.
struct Bytes {
  double elements, x, row, parameters, moments;
};
Bytes bytes_of(const Problem& problem, const Statistics& kind) {
  const double rows = as_double(problem[rows::kRows]), cols = as_double(problem[rows::kCols]);
  const double element = size_bytes(problem.dtype);
  return {rows * cols, rows * cols * element, cols * element, kind.arrays * cols * element,
          rows * kind.arrays * 4};
}

Plan vector_plan(const Problem& problem, const Statistics& kind, const Gpu& gpu) {
  constexpr std::int64_t kWarps = 4, kThreads = kWarps * rows::kWarp;
  constexpr double kInstructionsPerThread = 90;
  constexpr double kLevels = kShuffles + 2;  // two among four warps
  const Bytes of = bytes_of(problem, kind);
  Plan plan = launch_plan(problem[rows::kRows], {rows::kWarp, kWarps, 1},
                          compiled_for(gpu, kRegisters).registers, 24);
  plan.useful =
      of.elements * vector_work(kind.moments.flops + kind.result.flops, kind.moments.special);
  plan.arrays = {reads_activation(kX, of.x), reads(kGammaBeta, of.parameters),
                 writes(kMoments, of.moments), writes(kResult, of.x)};
  plan.reuse = {library::reread(of.x, of.row),
                library::parameter_reuse(as_double(problem[rows::kRows]), of.parameters, of.row)};
  plan.notes.traffic_reasons.push_back(
      {Level::requested, "two sweeps over a row: moments, result"});

  // An access of all threads, in either sweep. Neither loads a vector before it has used the last:
  // Welford's branches and the store stand between them. γ and β come an element at a time.
  const double accesses = as_double(ceil_div(problem[rows::kCols], kThreads * kVector));
  const double elements = as_double(problem[rows::kCols]) / accesses, bytes = of.row / accesses;
  const Step moments = library::sweep_step(kind.moments, elements, kThreads, {bytes, 0});
  Step joined;
  joined.warp_instructions =
      as_double(kWarps) * (kInstructionsPerThread + kShuffles * kind.combine);
  set_traffic(joined.issued, {0, kind.arrays * 4});
  joined.waits = {
      .shared = kShuffles + 3, .arithmetic = kLevels * kind.combine_chain, .barriers = 5};
  const Step result =
      library::sweep_step(kind.result, elements, kThreads, {(1 + kind.arrays) * bytes, bytes});
  set_blocks(plan, {{moments, accesses}, {joined}, {result, accesses}});
  return plan;
}

// A sweep over rows that vectors do not fill, an element of each thread at a time, with its index.
Plan scalar_sweep(const Problem& problem, const Swept& swept, std::int64_t threads,
                  const Traffic& row_bytes, const Step& end) {
  Plan plan = launch_plan(problem[rows::kRows], {threads, 1, 1}, 32);
  const double row = as_double(problem[rows::kCols]);
  plan.useful = as_double(problem[rows::kRows]) * row * vector_work(swept.flops, swept.special);
  const double accesses = as_double(ceil_div(problem[rows::kCols], threads));
  const Step step = library::sweep_step(swept, row / accesses, threads, 1 / accesses * row_bytes);
  set_blocks(plan, {{step, accesses}, {end}});
  plan.notes.caveat = "rows that are no multiple of four elements: registers are an estimate";
  return plan;
}

// The moments, then the result.
LaunchSequence scalar_plans(const Problem& problem, const Statistics& kind) {
  constexpr std::int64_t kMomentThreads = 512, kResultThreads = 256;
  constexpr double kOfMoment = 32, kOfResult = 33, kOfJoin = 37, kInstructionsOfThread = 45;
  const Bytes of = bytes_of(problem, kind);
  Step joined;
  // A moment's threads join theirs by shuffles; the first warp then joins those of all warps.
  const double warps = warps_of(kMomentThreads);
  joined.warp_instructions = warps * kInstructionsOfThread + (warps + 1) * kShuffles * kOfJoin;
  joined.waits = {.shared = 2 * kShuffles,
                  .arithmetic = 2 * kShuffles * kLayernorm.combine_chain,
                  .barriers = 2};
  set_traffic(joined.issued, {0, kind.arrays * 4});
  Plan moments = scalar_sweep(problem, {kind.moments.flops, kind.moments.special, kOfMoment, 0},
                              kMomentThreads, {of.row, 0}, joined);
  moments.arrays = {reads_activation(kX, of.x), writes(kMoments, of.moments)};

  Step begun;
  begun.warp_instructions = warps_of(kResultThreads) * kInstructionsOfThread;
  set_traffic(begun.issued, {kind.arrays * 4, 0});
  Plan result = scalar_sweep(problem, {kind.result.flops, 0, kOfResult, 0}, kResultThreads,
                             {of.row + of.parameters, of.row}, begun);
  result.arrays = {scratch(kX, {of.x, 0}), reads(kGammaBeta, of.parameters),
                   scratch(kMoments, {of.moments, 0}), writes(kResult, of.x)};
  result.reuse = {library::parameter_reuse(as_double(problem[rows::kRows]), of.parameters, of.row)};
  return {{std::move(moments)}, {std::move(result)}};
}

}  // namespace

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu) {
  const Statistics& kind = problem[kLibraryKind] == kLibraryRmsnorm ? kRmsnorm : kLayernorm;
  if (problem[rows::kCols] % kVector != 0) return scalar_plans(problem, kind);
  return launch_of(vector_plan(problem, kind, gpu));
}

}  // namespace roofcast::norm
