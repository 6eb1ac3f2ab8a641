#include "cli/commands/variants.hpp"

#include <algorithm>

namespace roofcast::cli {

Candidate forecast(const KernelRef& kernel, const Problem& problem, unsigned given, const Gpu& gpu,
                   const Assumptions& assumptions) {
  Candidate result{kernel, problem, &gpu, {}, {}};
  try {
    check(kernel, result.problem, given);
    result.prediction = predict(kernel, result.problem, gpu, assumptions);
  } catch (const InputError& error) {
    result.refusal = error.what();
  }
  return result;
}

bool Answered::refused() const {
  const auto has_forecast = [](const Candidate& one) { return one.prediction.has_value(); };
  return !has_forecast(itself) && std::none_of(variants.begin(), variants.end(), has_forecast);
}

Answered answered(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                  const Assumptions& assumptions) {
  const unsigned given = (1U << kernel.parameters().size()) - 1;  // every one
  Answered result{forecast(kernel, problem, given, gpu, assumptions), {}};
  if (kernel.kernel != nullptr) return result;
  for (const KernelModel& variant : kernel.family->variants) {
    result.variants.push_back(
        forecast({kernel.family, &variant}, problem, given, gpu, assumptions));
  }
  return result;
}

}  // namespace roofcast::cli
