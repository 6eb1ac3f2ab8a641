#include "model/kernels/divergence/divergence.hpp"

#include <algorithm>
#include <array>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::divergence {
namespace {

constexpr std::array kParameters = {
    roofcast::Parameter{"n", "elements, one a thread", 1, (std::int64_t{1} << 35) - 1},
    roofcast::Parameter{"paths", "branches there are", 1, kMaxPaths, 8},
    roofcast::Parameter{"work", "multiply-adds of a branch: a multiple of 16", kWorkUnit, 1 << 20,
                        512},
    setting("threads", "threads of a block", 32, 1024, 256)};
constexpr auto kShape = std::span(kParameters).first(3);
constexpr std::array kTypes = {DType::fp32};

// validation/sweeps/execution.json.
constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 20, std::int64_t{1} << 24},
    ValidatedRange{kPaths, 1, 32}, ValidatedRange{kWork, 64, 512}};

// Instructions of a warp for each further path, by the machine code for compute capability 9.0: the
// tree of compares and branches takes 107 more for all 32 paths, a path 12 around its loop.
constexpr double kNextPath = 107.0 / 31 + 12;
// Additions outside a path's loop: three to start its four chains, three to add the chains up.
constexpr double kAddsOutside = 6;

double useful_flops(const Problem& problem) {
  return 2 * as_double(problem[kWork]) + kAddsOutside;
}

// Distinct paths of the lanes of a warp, which run one after the other (CUDA C++ Programming Guide,
// "SIMT Architecture"). k_way: lane l takes path l mod `paths`; data_dependent: each draws one.
double paths_taken(Choice choice, double paths) {
  if (choice == Choice::warp_uniform) return 1;
  return choice == Choice::k_way ? std::min(paths, as_double(kWarpLanes))
                                 : expected_distinct(paths, kWarpLanes);
}

template <Choice kChoice>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  require(problem[kWork] % kWorkUnit == 0, "work is ", problem[kWork], ": give a multiple of ",
          kWorkUnit);
  const double work = as_double(problem[kWork]),
               arrays_read = kChoice == Choice::data_dependent ? 2 : 1;
  const double array = as_double(problem[kElements]) * size_bytes(problem.dtype);
  const double taken = paths_taken(kChoice, as_double(problem[kPaths]));
  const compiled::Kernel kernel = compiled::kernel("divergence::diverge", kChoice);
  // A path occupies the pipe for a whole warp, however many lanes take it.
  const double occupied =
      taken * warps_of(problem[kThreads]) * kWarpLanes / as_double(problem[kThreads]);
  Plan plan = map::plan_of({.elements = problem[kElements],
                            .threads = problem[kThreads],
                            .chunk = problem[kThreads],
                            .registers = kernel.registers,
                            .each = {.vector_flops = occupied * useful_flops(problem)},
                            .bytes = size_bytes(problem.dtype) * Traffic{arrays_read, 1},
                            .instructions = kernel.straight + kNextPath * (taken - 1) +
                                            taken * kernel.loops[0] * work / kWorkUnit,
                            .dependent = taken * (work / 4 + 3)});
  plan.useful.vector_flops /= occupied;
  plan.arrays = {reads(0, array)};
  if (kChoice == Choice::data_dependent) plan.arrays.push_back(reads(1, array));
  plan.arrays.push_back(writes(static_cast<ArrayId>(arrays_read), array));
  return launch_of(std::move(plan));
}

constexpr std::array<KernelModel, 3> kVariants = {{
    {"divergence.warp_uniform", "all lanes of a warp take the same branch", kParameters, kTypes,
     plan<Choice::warp_uniform>},
    {"divergence.k_way", "lane by lane in turn: a warp runs every branch", kParameters, kTypes,
     plan<Choice::k_way>},
    {"divergence.data_dependent", "a random selector for each thread", kParameters, kTypes,
     plan<Choice::data_dependent>},
}};

Work family_work(const Problem& problem) {
  const double n = as_double(problem[kElements]), array = n * size_bytes(problem.dtype);
  return {.vector_flops = n * useful_flops(problem), .compulsory = {array, array}};
}

}  // namespace

constinit const KernelFamily kFamily = {
    "divergence", "branches on which lanes do not agree", kShape, kTypes, kVariants, kValidated,
    family_work};

}  // namespace roofcast::divergence
