#include "model/kernels/recompute/recompute.hpp"

#include <algorithm>
#include <array>

#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::recompute {
namespace {

constexpr std::array kParameters = {
    map::kParameters[map::kElements],
    roofcast::Parameter{"chain", "logistic functions, one after the other", 1, kMaxChain, 3},
    map::kParameters[map::kThreads], map::kParameters[map::kVectorBytes],
    setting("loads", "accesses a thread issues before it uses the first: 1, 2, 4", 1, 4, 1)};
constexpr auto kShape = std::span(kParameters).first(2);

// validation/sweeps/execution.json.
constexpr std::array kValidated = {
    ValidatedRange{kElements, std::int64_t{1} << 20, std::int64_t{1} << 27},
    ValidatedRange{kChain, 1, kMaxChain}};

compiled::Kernel kernel_of(std::string_view pass, const Problem& p) {
  const auto kernel = compiled::kernel(pass, p.dtype, p[kVectorBytes], p[kLoads]);
  require(kernel.registers > 0, "vector_bytes ", p[kVectorBytes], " with loads ", p[kLoads],
          ": give 4, 8 or 16 with 1 load, 4 with 4, 8 with 2, 16 with 2 or, in fp32, 4");
  return kernel;
}

// σ: times -log2 e, exp2, plus 1, reciprocal. Its derivative: y - y·y, times the gradient.
constexpr double kSigmoidFlops = 2;
constexpr double kSigmoidSpecial = 2;
constexpr double kSlopeFlops = 3;

// Arrays: dy, dx, x, then the output of each σ of the chain, the last of which is y.
enum : ArrayId { kGradientIn, kGradientOut, kInput, kOutputs };

template <bool kStored>
LaunchSequence plan(const Problem& p, const Gpu& /*gpu*/) {
  const double chain = as_double(p[kChain]), stored = kStored ? chain - 1 : 0;
  const double computed = chain - stored;        // σ that the backward pass computes
  const double sources = std::max(1.0, stored);  // arrays it starts from: x where nothing is stored
  const std::int64_t element = element_bytes(p.dtype);
  const auto pass = [&](const compiled::Kernel& kernel, const Traffic& arrays, double sigmoids,
                        double slopes, double in_loops) {
    const double conversions = element < 4 ? arrays.write_bytes / 2 : 0;  // one packs two results
    return map::plan_of({.elements = p[kElements],
                         .threads = p[kThreads],
                         .chunk = p[kThreads] * p[kLoads] * p[kVectorBytes] / element,
                         .registers = kernel.registers,
                         .each = {.vector_flops = sigmoids * kSigmoidFlops + slopes * kSlopeFlops,
                                  .special_flops = sigmoids * kSigmoidSpecial,
                                  .conversions = conversions},
                         .bytes = as_double(element) * arrays,
                         .instructions = kernel.straight + in_loops});
  };
  const compiled::Kernel forward = kernel_of("recompute::Forward", p);
  const compiled::Kernel backward = kernel_of("recompute::Backward", p);
  Plan first = pass(forward, {1, stored + 1}, chain, 0, chain * forward.loops[0]);
  // The backward pass's loops: over stored results, and over results that are computed again.
  Plan second = pass(backward, {sources + 1, 1}, computed, chain,
                     stored * backward.loops[0] + computed * backward.loops[1]);
  const double array = as_double(p[kElements]) * size_bytes(p.dtype);
  first.arrays = {reads_activation(kInput, array)};
  second.arrays = {reads(kGradientIn, array), writes(kGradientOut, array)};
  if (stored == 0) second.arrays.push_back(reads(kInput, array));
  for (ArrayId i = 0; i <= static_cast<ArrayId>(stored); ++i) {  // y, the last, is not read again
    first.arrays.push_back(writes(kOutputs + i, array));
    if (i < static_cast<ArrayId>(stored)) second.arrays.push_back(reads(kOutputs + i, array));
  }
  return {{first}, {second}};
}

// The least work: every σ once, x and dy in, y and dx out.
Work work(const Problem& problem) {
  const double links = as_double(problem[kElements] * problem[kChain]);
  const double array = as_double(problem[kElements]) * size_bytes(problem.dtype);
  return {.vector_flops = links * (kSigmoidFlops + kSlopeFlops),
          .special_flops = links * kSigmoidSpecial,
          .compulsory = {2 * array, 2 * array}};
}

constexpr std::array<KernelModel, 2> kVariants = {{
    {"recompute.stored", "the forward pass stores what the backward pass needs", kParameters,
     map::kTypes, plan<true>},
    {"recompute.recomputed", "the backward pass computes the chain again", kParameters, map::kTypes,
     plan<false>},
}};

}  // namespace

constinit const KernelFamily kFamily = {
    "recompute", "a chain of logistic functions, forward and backward",
    kShape,      map::kTypes,
    kVariants,   kValidated,
    work};

}  // namespace roofcast::recompute
