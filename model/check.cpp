#include <algorithm>
#include <string>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast {
namespace {

std::string list(std::span<const DType> types) {
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : ", ") + std::string(name(type));
  return text;
}

void check_value(const Parameter& parameter, Problem& problem, std::size_t position) {
  if (parameter.is_text) {
    problem[position] = 0;
    if (parameter.fallback || !problem.text.empty()) return;
    throw InputError(std::string(parameter.name) + " is empty: give " +
                     std::string(parameter.meaning));
  }
  const std::int64_t value = problem[position];
  if (value >= parameter.minimum && value <= parameter.maximum) return;
  throw InputError(std::string(parameter.name) + " is " + std::to_string(value) + ": give " +
                   (is_named(parameter) ? "" : "a whole number from ") + allowed_text(parameter));
}

}  // namespace

void check(const KernelRef& kernel, Problem& problem, unsigned given) {
  const std::span<const DType> types = kernel.dtypes();
  if (std::find(types.begin(), types.end(), problem.dtype) == types.end()) {
    throw InputError(std::string(kernel.name()) + " has no type " +
                     std::string(name(problem.dtype)) + ": it takes " + list(types));
  }
  const std::span<const Parameter> parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if ((given >> i & 1U) == 0) {
      if (!parameter.fallback) {
        throw InputError(std::string(kernel.name()) + " needs " + std::string(parameter.name) +
                         ": " + std::string(parameter.meaning));
      }
      problem[i] = *parameter.fallback;
    }
    check_value(parameter, problem, i);
  }
}

}  // namespace roofcast
