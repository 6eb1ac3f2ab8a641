#include "model/transformer/step_kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::transformer {
namespace {

std::int64_t whole(double value) {
  return std::max<std::int64_t>(1, std::llround(value));
}

Problem problem_of(const KernelRef& kernel, DType dtype, std::span<const Given> given) {
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
                                                std::span<const Given> given) {
  key_.assign(kernel);
  for (const Given& one : given) {
    key_.append(" ").append(one.name).append("=");
    one.word.empty() ? key_.append(std::to_string(one.number)) : key_.append(one.word);
  }
  key_.append(" ").append(roofcast::name(dtype));
  if (const auto found = known_.find(key_); found != known_.end()) return found->second;
  const KernelRef ref = find_kernel(kernel);
  Assumptions assumptions;
  assumptions.cache = CacheState::steady;
  const Prediction answer = predict(ref, problem_of(ref, dtype, given), gpu_, assumptions);
  if (!answer.time) throw InputError("there is no forecast of " + std::string(kernel) + " there");
  return known_.emplace(key_, One{key_, *answer.time, answer.limit.time_s, use_of(answer)})
      .first->second;
}

void StepKernels::add(std::string_view name, double times, std::string_view kernel,
                      std::span<const Given> given) {
  add_of_type(name, times, kernel, wide_, given);
}

void StepKernels::add_narrow(std::string_view name, double times, std::string_view kernel,
                             std::span<const Given> given) {
  add_of_type(name, times, kernel, dtype_, given);
}

void StepKernels::add_of_type(std::string_view name, double times, std::string_view kernel,
                              DType dtype, std::span<const Given> given) {
  if (times <= 0) return;
  const KernelForecasts::One& one = forecasts_.of(kernel, dtype, given);
  const double time_s = times * one.time.expected_s;
  const std::string bound(roofcast::name(one.time.terms.binding().resource));
  StepPart& sum = step_.part(name);
  sum.add(times, one.time);
  if (double& longest = longest_[sum.name]; time_s > longest) {
    longest = time_s;
    sum.bound = bound;
  }
  step_.limit_s += times * one.limit_s;
  step_.operations.push_back({sum.name, one.what, section_, direction_, times, time_s, bound,
                              first_layer_, last_layer_, one.use, time_s});
}

void StepKernels::product(std::string_view name, double times, double m, double n, double k,
                          double batch) {
  const bool narrow = dtype_ == DType::fp8;
  const std::array given = {Given{"m", whole(m)}, Given{"n", whole(n)}, Given{"k", whole(k)},
                            Given{"batch", whole(batch)},
                            Given{"quantize", 0, narrow ? "activations" : "nothing"}};
  add_narrow(name, times, "gemm.library", given);
}

void StepKernels::product_with(std::string_view epilogue, std::string_view name, double times,
                               double m, double n, double k) {
  const std::array given = {Given{"m", whole(m)}, Given{"n", whole(n)}, Given{"k", whole(k)},
                            Given{"epilogue", 0, epilogue}};
  add_narrow(name, times, "gemm.library", given);
}

void StepKernels::wide_product(std::string_view name, double times, double m, double n, double k,
                               double batch) {
  const std::array given = {Given{"m", whole(m)}, Given{"n", whole(n)}, Given{"k", whole(k)},
                            Given{"batch", whole(batch)}};
  add(name, times, "gemm.library", given);
}

void StepKernels::move(std::string_view name, double times, double elements, double launches) {
  const std::array given = {Given{"n", whole(elements / launches / 2)}};  // one read, one written
  add(name, times * launches, "stream.copy", given);
}

}  // namespace roofcast::transformer
