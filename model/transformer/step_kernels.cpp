#include "model/transformer/step.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::transformer {
namespace {

Problem problem_of(const KernelRef& kernel, DType dtype, std::initializer_list<Given> given) {
  Problem problem;
  problem.dtype = dtype;
  unsigned marks = 0;
  const auto parameters = kernel.parameters();
  for (const Given& one : given) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name != one.name) continue;
      marks |= 1U << i;
      if (one.word.empty()) {
        problem[i] = one.number;
      } else {
        set_named_value(parameters[i], problem, i, one.word);
      }
    }
  }
  check(kernel, problem, marks);
  return problem;
}

}  // namespace

const KernelForecasts::One& KernelForecasts::of(std::string_view kernel, DType dtype,
                                                std::initializer_list<Given> given) {
  key_.assign(kernel);
  for (const Given& one : given) {
    if (one.name.empty()) continue;
    key_.append(" ").append(one.name).append("=");
    one.word.empty() ? key_.append(std::to_string(one.number)) : key_.append(one.word);
  }
  key_.append(" ").append(roofcast::name(dtype));
  if (const auto found = known_.find(key_); found != known_.end()) return found->second;
  const KernelRef ref = find_kernel(kernel);
  Assumptions assumptions;
  assumptions.cache = CacheState::steady;
  const Prediction answer = predict(ref, problem_of(ref, dtype, given), gpu_, assumptions);
  require(answer.time.has_value(), "there is no forecast of ", kernel, " there");
  return known_.emplace(key_, One{key_, *answer.time, answer.limit.time_s, use_of(answer)})
      .first->second;
}

}  // namespace roofcast::transformer
