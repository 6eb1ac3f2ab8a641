#include "model/kernels/recompute/recompute.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::recompute {
namespace {

constexpr std::array kParameters = {
    roofcast::Parameter{"n", "elements of each array", 1, std::int64_t{1} << 40, std::nullopt},
    roofcast::Parameter{"chain", "logistic functions, one after the other", 1, kMaxChain, 3},
    setting("threads", "threads of a block", 32, 1024, 256),
    setting("vector_bytes", "bytes of one access of a thread: 4, 8 or 16", 4, 16, 16),
    setting("loads", "accesses a thread issues before it uses the first: 1, 2, 4", 1, 4, 1)};
constexpr std::size_t kShape = 2;
constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/execution.json.
constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 20, std::int64_t{1} << 27},
    ValidatedRange{kChain, 1, kMaxChain}};

compiled::Kernel kernel_of(std::string_view pass, const Problem& p) {
  const auto kernel = compiled::kernel(pass, p.dtype, p[kVectorBytes], p[kLoads]);
  if (kernel.registers > 0) return kernel;
  throw InputError("vector_bytes " + std::to_string(p[kVectorBytes]) + " with loads " +
                   std::to_string(p[kLoads]) +
                   ": give 4, 8 or 16 with 1 load, 4 with 4, 8 with 2, 16 with 2 or, in fp32, 4");
}

// σ: times -log2 e, exp2, plus 1, reciprocal. Its slope: y - y·y, times the gradient.
constexpr double kSigmoidFlops = 2;
constexpr double kSigmoidSpecial = 2;
constexpr double kSlopeFlops = 3;
constexpr double kSigmoidInstructions = 4;

// A turn of the forward loop stores a result; it goes past that where none is asked for. In fp32
// the store has a predicate: issued all the same.
double forward_instructions(const compiled::Kernel& kernel, const Problem& p, double chain,
                            double stored) {
  const double loads = as_double(p[kLoads]), element = size_bytes(p.dtype);
  const double elements = loads * as_double(p[kVectorBytes]) / element;
  const double store = element < 4 ? 4 * loads + elements / 2 : 0;
  return kernel.straight + chain * kernel.loops[0] - (chain - stored) * store;
}
// The backward loops: with a result from memory, and with one that is computed again.
double backward_instructions(const compiled::Kernel& kernel, double stored, double computed) {
  return kernel.straight + stored * kernel.loops[0] + computed * kernel.loops[1];
}

Plan empty_plan(const Problem& problem, std::int64_t registers) {
  const auto width = static_cast<std::int64_t>(static_cast<double>(problem[kVectorBytes]) /
                                               size_bytes(problem.dtype));
  const std::int64_t chunk = problem[kThreads] * width * problem[kLoads];
  Plan plan;
  plan.launch.grid[0] = ceil_div(problem[kElements], chunk);
  plan.launch.block[0] = problem[kThreads];
  plan.launch.registers = registers;
  return plan;
}

/// What a pass does for each element.
struct Pass {
  double reads;
  double writes;
  double sigmoids;
  double slopes;
  double roundings;     ///< to the type, of 16-bit types two to a conversion
  double instructions;  ///< of a warp, for all its elements
  double round_trips;
};

Plan pass_plan(const Problem& problem, const Pass& pass, std::int64_t registers) {
  const double element = size_bytes(problem.dtype);
  const auto n = static_cast<double>(problem[kElements]);
  Plan plan = empty_plan(problem, registers);
  const double flops = pass.sigmoids * kSigmoidFlops + pass.slopes * kSlopeFlops;
  const double special = pass.sigmoids * kSigmoidSpecial;
  const double conversions = element < 4 ? pass.roundings / 2 : 0;
  plan.useful.vector_flops = n * flops;
  plan.useful.special_flops = n * special;
  plan.useful.conversions = n * conversions;

  const double of_thread = as_double(problem[kVectorBytes] * problem[kLoads]) / element;
  const double elements = as_double(problem[kThreads]) * of_thread;
  Step step;
  step.issued.vector_flops = elements * flops;
  step.issued.special_flops = elements * special;
  step.issued.conversions = elements * conversions;
  const double each = elements * element;
  set_traffic(step.issued, {each * pass.reads, each * pass.writes});
  step.warp_instructions = warps_of(problem[kThreads]) * pass.instructions;
  step.waits.global = pass.round_trips;
  step.waits.arithmetic = pass.sigmoids * kSigmoidInstructions + pass.slopes;
  set_blocks_with_edge(plan, step, elements / n);
  return plan;
}

// Arrays: the gradients that come and go, then x, and the outputs of the chain with the last.
enum : ArrayId { kGradientIn, kGradientOut, kInput, kOutputs };

/// `stored`: outputs that the forward pass writes besides the last: chain - 1, or none.
LaunchSequence program_of(const Problem& problem, std::int64_t stored_outputs) {
  const double element = size_bytes(problem.dtype);
  const auto chain = static_cast<double>(problem[kChain]);
  const auto stored = static_cast<double>(stored_outputs);
  const compiled::Kernel forward_kernel = kernel_of("recompute::Forward", problem);
  const compiled::Kernel backward_kernel = kernel_of("recompute::Backward", problem);
  const double sources = std::max(1.0, stored);  // x where nothing is stored
  const Pass forward = {1, stored + 1, chain,
                        0, stored + 1, forward_instructions(forward_kernel, problem, chain, stored),
                        1};
  const double computed = chain - stored;
  // Each stored output is loaded one ahead of its use: two of them a round trip.
  const Pass backward = {sources + 1,
                         1,
                         computed,
                         chain,
                         1,
                         backward_instructions(backward_kernel, stored, computed),
                         std::max(1.0, sources / 2)};

  Plan first = pass_plan(problem, forward, forward_kernel.registers);
  Plan second = pass_plan(problem, backward, backward_kernel.registers);
  const double array = as_double(problem[kElements]) * element;
  first.arrays = {reads_activation(kInput, array)};
  for (std::int64_t i = 0; i <= stored_outputs; ++i) {
    first.arrays.push_back(writes(kOutputs + static_cast<ArrayId>(i), array));
  }
  second.arrays = {reads(kGradientIn, array), writes(kGradientOut, array)};
  if (stored_outputs == 0) second.arrays.push_back(reads(kInput, array));
  for (std::int64_t i = 0; i < stored_outputs; ++i) {  // all but the last
    second.arrays.push_back(reads(kOutputs + static_cast<ArrayId>(i), array));
  }
  return {{first}, {second}};
}

LaunchSequence plan_stored(const Problem& problem, const Gpu& /*gpu*/) {
  return program_of(problem, problem[kChain] - 1);
}
LaunchSequence plan_recomputed(const Problem& problem, const Gpu& /*gpu*/) {
  return program_of(problem, 0);
}

// Every σ once, x and dy in, y and dx out.
Work work(const Problem& problem) {
  const auto links = static_cast<double>(problem[kElements] * problem[kChain]);
  const double array = static_cast<double>(problem[kElements]) * size_bytes(problem.dtype);
  Work result;
  result.vector_flops = links * (kSigmoidFlops + kSlopeFlops);
  result.special_flops = links * kSigmoidSpecial;
  result.compulsory = {2 * array, 2 * array};
  return result;
}

constexpr std::array<KernelModel, 2> kVariants = {{
    {"recompute.stored", "the forward pass stores what the backward pass needs", kParameters,
     kTypes, plan_stored},
    {"recompute.recomputed", "the backward pass computes the chain again", kParameters, kTypes,
     plan_recomputed},
}};

}  // namespace

constinit const KernelFamily kFamily = {"recompute",
                                        "a chain of logistic functions, forward and backward",
                                        std::span(kParameters).first(kShape),
                                        kTypes,
                                        work,
                                        streaming,
                                        kVariants,
                                        kValidated};

}  // namespace roofcast::recompute
