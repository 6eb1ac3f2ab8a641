#include "model/kernels/divergence/divergence.hpp"

#include <array>
#include <string>

#include "model/counting/divergence.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::divergence {
namespace {

constexpr std::array kParameters = {
    roofcast::Parameter{"n", "elements, one a thread", 1, (std::int64_t{1} << 35) - 1,
                        std::nullopt},
    roofcast::Parameter{"paths", "branches there are", 1, kMaxPaths, 8},
    roofcast::Parameter{"work", "multiply-adds of a branch: a multiple of 16", kWorkUnit, 1 << 20,
                        512},
    setting("threads", "threads of a block", 32, 1024, 256)};
constexpr std::size_t kShape = 3;
constexpr std::array kTypes = {DType::fp32};
constexpr double kLanes = 32;

// validation/sweeps/execution.json.
constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 20, std::int64_t{1} << 24},
    ValidatedRange{kPaths, 1, 32}, ValidatedRange{kWork, 64, 512}};

/// What differs between the variants: how a thread finds its path.
struct Choice {
  double arrays_read;
  double instructions;  ///< of a warp, outside the paths and the branch
  int number;           ///< as in kernels/divergence/divergence.cu
  double round_trips;
};
constexpr Choice kUniform = {1, 44, 0, 1};
constexpr Choice kByLane = {1, 45, 1, 1};
constexpr Choice kByData = {2, 29, 2, 1};

// Warp instructions by the machine code for compute capability 9.0. The switch is a
// tree of compares and branches: 13 down to the first path, 107 more for all 32.
constexpr double kRound = 19;  ///< 16 multiply-adds, count, compare, branch
constexpr double kAroundPath = 12;
constexpr double kFirstPath = 13;
constexpr double kNextPath = 107.0 / 31;
constexpr double kAddsOutside = 6;  ///< of a path: the four starts (three of them sums), their sum

double rounds(const Problem& problem) {
  return static_cast<double>(problem[kWork] / kWorkUnit);
}

double useful_flops(const Problem& problem) {
  return 2 * static_cast<double>(problem[kWork]) + kAddsOutside;
}

LaunchSequence plan(const Problem& problem, const Choice& choice, double taken) {
  if (problem[kWork] % kWorkUnit != 0) {
    throw InputError("work is " + std::to_string(problem[kWork]) + ": give a multiple of " +
                     std::to_string(kWorkUnit));
  }
  const auto n = static_cast<double>(problem[kElements]);
  const double element = size_bytes(problem.dtype);
  const std::int64_t threads = problem[kThreads];
  Plan plan;
  plan.launch.grid[0] = (problem[kElements] + threads - 1) / threads;
  plan.launch.block[0] = threads;
  plan.launch.registers = compiled::registers("divergence::diverge", choice.number);

  plan.useful.vector_flops = n * useful_flops(problem);
  ArrayId array = 0;
  while (array < static_cast<ArrayId>(choice.arrays_read)) {
    plan.arrays.push_back(reads(array++, n * element));
  }
  plan.arrays.push_back(writes(array, n * element));

  // A path occupies the pipe for whole warps, whichever lanes are on it.
  const double warps = warps_of(threads);
  Step step;
  step.issued.vector_flops = warps * taken * kLanes * useful_flops(problem);
  const double each = as_double(threads) * element;
  set_traffic(step.issued, {choice.arrays_read * each, each});
  step.warp_instructions = warps * (choice.instructions + kFirstPath + kNextPath * (taken - 1) +
                                    taken * (kAroundPath + kRound * rounds(problem)));
  step.waits.global = choice.round_trips;
  step.waits.arithmetic = taken * (as_double(problem[kWork]) / 4 + 3);
  set_blocks_with_edge(plan, step, as_double(threads) / n);
  return launch_of(std::move(plan));
}

LaunchSequence plan_uniform(const Problem& problem, const Gpu& /*gpu*/) {
  return plan(problem, kUniform, paths_uniform());
}
LaunchSequence plan_by_lane(const Problem& problem, const Gpu& /*gpu*/) {
  return plan(problem, kByLane, paths_by_lane(static_cast<double>(problem[kPaths]), kLanes));
}
LaunchSequence plan_by_data(const Problem& problem, const Gpu& /*gpu*/) {
  return plan(problem, kByData, paths_at_random(static_cast<double>(problem[kPaths]), kLanes));
}

constexpr std::array<KernelModel, 3> kVariants = {{
    {"divergence.warp_uniform", "all lanes of a warp take the same branch", kParameters, kTypes,
     plan_uniform},
    {"divergence.k_way", "lane by lane in turn: a warp runs every branch", kParameters, kTypes,
     plan_by_lane},
    {"divergence.data_dependent", "a random selector for each thread", kParameters, kTypes,
     plan_by_data},
}};

Work family_work(const Problem& problem) {
  const auto n = static_cast<double>(problem[kElements]);
  const double array = n * size_bytes(problem.dtype);
  Work result;
  result.vector_flops = n * useful_flops(problem);
  result.compulsory = {array, array};
  return result;
}

}  // namespace

constinit const KernelFamily kFamily = {"divergence",
                                        "branches on which lanes do not agree",
                                        std::span(kParameters).first(kShape),
                                        kTypes,
                                        family_work,
                                        streaming,
                                        kVariants,
                                        kValidated};

}  // namespace roofcast::divergence
