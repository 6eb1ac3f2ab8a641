#include "model/kernels/norm_library.hpp"

#include <algorithm>
#include <array>

#include "model/kernels/library_rows.hpp"

namespace roofcast::norm {
namespace {

constexpr std::int64_t kVector = 4;  // elements, whatever their type
constexpr std::int64_t kThreads = 128;
constexpr double kWarps = 4;

// ptxas -v of CUDA 13.0, 2026-11-21, of a kernel written after the same algorithm, for sm_80, sm_90
// and sm_100. For sm_75 it says 51; what a V100 reads again agrees with 39.
constexpr std::array kRegisters = {library::Compilation{7, 39}, library::Compilation{9, 32},
                                   library::Compilation{10, 42}};

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

// The sectors of γ and β come once to each SM and stay in its L1.
double parameter_l2_bytes(const Problem& problem, double parameter_bytes, const Gpu& gpu) {
  return parameter_bytes *
         static_cast<double>(std::min(problem[rows::kRows], gpu.sm_count.value_or(1)));
}

Plan vector_plan(const Problem& problem, const Statistics& kind, const Gpu& gpu) {
  const double element = size_bytes(problem.dtype);
  const auto row_count = static_cast<double>(problem[rows::kRows]);
  const auto row = static_cast<double>(problem[rows::kCols]);
  const double row_bytes = row * element;
  const double n = row_count * row;
  const double parameter_bytes = kind.gamma_arrays * row_bytes;
  const double written = n * element + row_count * kind.row_values * 4;

  Plan plan;
  plan.launch.grid[0] = problem[rows::kRows];
  plan.launch.block = {rows::kWarp, kThreads / rows::kWarp, 1};
  plan.launch.registers = library::registers_for(kRegisters, gpu);
  plan.launch.shared_bytes = 24;
  Work& work = plan.total;
  work.vector_flops = n * (kind.flops + kResultFlops);
  work.special_flops = n * kind.special;
  work.compulsory = work.dram_footprint = {n * element + parameter_bytes, written};
  work.requested = work.l1 = {2 * n * element + row_count * parameter_bytes, written};
  work.l2 = {2 * n * element + parameter_l2_bytes(problem, parameter_bytes, gpu), written};
  plan.rereads = {{.bytes = row_bytes, .distance_bytes = library::kFirstReread * row_bytes}};
  plan.traffic_reasons.push_back({Level::requested, "two sweeps over a row: moments, result"});

  const std::int64_t accesses = rows::ceil_div(problem[rows::kCols], kThreads * kVector);
  plan.block.steps = 0;
  Step& once = plan.block.once;
  once.vector_flops = row * (kind.flops + kResultFlops);
  once.special_ops = row * kind.special;
  once.instructions = row / 32 * (kind.instructions + kResultInstructions) +
                      kWarps * (kInstructionsPerThread + kShuffles * (3 + kind.combine));
  once.l2_bytes = 3 * row_bytes;
  // The first sweep loads four vectors before it uses one where it has as many; the second must
  // not load before the store that precedes.
  once.global_round_trips = static_cast<double>(accesses / 4 + accesses % 4 + accesses);
  once.shared_round_trips = kShuffles + 3;
  once.dependent_fmas = row / kThreads * kind.chain + kLevels * kind.combine;
  once.barriers = 5;
  return plan;
}

// The row scalars, one element a thread at a time.
Plan scalar_sweep(const Problem& problem, const Statistics& kind, bool result, const Gpu& gpu) {
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
  Work& work = plan.total;
  work.vector_flops = n * (result ? kResultFlops : kind.flops);
  work.special_flops = result ? 0 : n * kind.special;
  // x and the moments come to the second kernel a second time: not compulsory.
  work.compulsory = {result ? parameter_bytes : n * element, result ? n * element : row_values};
  work.dram_footprint = {n * element + parameter_bytes + (result ? row_values : 0),
                         work.compulsory.write_bytes};
  work.requested = work.l1 = {n * element + row_count * parameter_bytes + (result ? row_values : 0),
                              work.compulsory.write_bytes};
  work.l2 = {
      n * element + parameter_l2_bytes(problem, parameter_bytes, gpu) + (result ? row_values : 0),
      work.compulsory.write_bytes};
  if (result) plan.reuse = {n * element + row_values, 0, n * element};

  plan.block.steps = 0;
  Step& once = plan.block.once;
  const auto warps = static_cast<double>(threads / rows::kWarp);
  once.vector_flops = row * (result ? kResultFlops : kind.flops);
  once.special_ops = result ? 0 : row * kind.special;
  once.instructions = row / 32 * (6 + (result ? kResultInstructions : kind.instructions)) +
                      warps * kInstructionsPerThread;
  once.l2_bytes = row * element * (result ? 2 : 1);
  once.global_round_trips = static_cast<double>(rows::ceil_div(problem[rows::kCols], threads));
  once.shared_round_trips = result ? 0 : 2 * kShuffles;
  once.barriers = result ? 0 : 2;
  plan.caveat = "rows that are no multiple of four elements: registers are an estimate";
  return plan;
}

}  // namespace

Plans plan_library(const Problem& problem, const Gpu& gpu) {
  const Statistics& kind = problem[kLibraryKind] == kLibraryRmsnorm ? kRmsnorm : kLayernorm;
  if (problem[rows::kCols] % kVector == 0) {
    Plan plan = vector_plan(problem, kind, gpu);
    if (problem[kLibraryKind] == kLibraryRmsnorm) {
      plan.caveat =
          "rmsnorm as the fused kernel of later versions, never held against a measurement";
    }
    return {plan};
  }
  return {scalar_sweep(problem, kind, false, gpu), scalar_sweep(problem, kind, true, gpu)};
}

}  // namespace roofcast::norm
