#include "model/kernels/divergence/divergence.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "model/counting/coalescing.hpp"
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

// validation/sweeps/execution.json.
constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 20, std::int64_t{1} << 24},
    ValidatedRange{kPaths, 1, 32}, ValidatedRange{kWork, 64, 512}};

/// How a thread finds its path: numbered as in kernels/divergence/divergence.cu.
enum class Choice : unsigned char { uniform, by_lane, by_data };

// Instructions of a warp for each further path: the switch is a tree of compares and branches, 107
// more for all 32, and the path has 12 around its loop. By the machine code for compute capability
// 9.0.
constexpr double kNextPath = 107.0 / 31 + 12;
constexpr double kAddsOutside = 6;  // of a path: the four starts (three of them sums), their sum

double useful_flops(const Problem& problem) {
  return 2 * as_double(problem[kWork]) + kAddsOutside;
}

// How many different paths the lanes of a warp take. Lanes on one path run together; the paths of a
// warp run one after the other, so it issues the instructions of each (CUDA C++ Programming Guide,
// "SIMT Architecture"). Lane l takes path l mod `paths`, or each lane draws one at random.
double paths_taken(Choice choice, double paths) {
  if (choice == Choice::uniform) return 1;
  return choice == Choice::by_lane ? std::min(paths, as_double(kWarpLanes))
                                   : expected_distinct(paths, kWarpLanes);
}

template <Choice kChoice>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  if (problem[kWork] % kWorkUnit != 0) {
    throw InputError("work is " + std::to_string(problem[kWork]) + ": give a multiple of " +
                     std::to_string(kWorkUnit));
  }
  const double n = as_double(problem[kElements]), work = as_double(problem[kWork]);
  const double element = size_bytes(problem.dtype);
  const double threads = as_double(problem[kThreads]), warps = warps_of(problem[kThreads]);
  const double taken = paths_taken(kChoice, as_double(problem[kPaths]));
  const compiled::Kernel kernel = compiled::kernel("divergence::diverge", kChoice);
  Plan plan;
  plan.launch.grid[0] = ceil_div(problem[kElements], problem[kThreads]);
  plan.launch.block[0] = problem[kThreads];
  plan.launch.registers = kernel.registers;
  plan.useful.vector_flops = n * useful_flops(problem);
  plan.arrays = {reads(0, n * element)};
  if (kChoice == Choice::by_data) plan.arrays.push_back(reads(1, n * element));
  const double arrays_read = as_double(std::ssize(plan.arrays));
  plan.arrays.push_back(writes(static_cast<ArrayId>(arrays_read), n * element));

  Step step;
  // A path occupies the pipe for whole warps, whichever lanes are on it.
  step.issued.vector_flops = warps * taken * kWarpLanes * useful_flops(problem);
  set_traffic(step.issued, threads * element * Traffic{arrays_read, 1});
  step.warp_instructions = warps * (kernel.straight + kNextPath * (taken - 1) +
                                    taken * kernel.loops[0] * work / kWorkUnit);
  step.waits.global = 1;
  step.waits.arithmetic = taken * (work / 4 + 3);
  set_blocks_with_edge(plan, step, threads / n);
  return launch_of(std::move(plan));
}

constexpr std::array<KernelModel, 3> kVariants = {{
    {"divergence.warp_uniform", "all lanes of a warp take the same branch", kParameters, kTypes,
     plan<Choice::uniform>},
    {"divergence.k_way", "lane by lane in turn: a warp runs every branch", kParameters, kTypes,
     plan<Choice::by_lane>},
    {"divergence.data_dependent", "a random selector for each thread", kParameters, kTypes,
     plan<Choice::by_data>},
}};

Work family_work(const Problem& problem) {
  const double n = as_double(problem[kElements]), array = n * size_bytes(problem.dtype);
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
