#include <algorithm>
#include <string>

#include "model/predict.hpp"

namespace roofcast {
namespace {

std::string list(std::span<const DType> types) {
  std::string text;
  for (const DType type : types) text += (text.empty() ? "" : ", ") + std::string(name(type));
  return text;
}

std::string_view kernel_name(const Found& kernel) {
  return kernel.kernel != nullptr ? kernel.kernel->name : kernel.family->name;
}

}  // namespace

void check(const Found& kernel, Problem& problem, unsigned given) {
  const std::span<const DType> types = kernel.dtypes();
  if (std::find(types.begin(), types.end(), problem.dtype) == types.end()) {
    throw InputError(std::string(kernel_name(kernel)) + " has no type " +
                     std::string(name(problem.dtype)) + ": it takes " + list(types));
  }
  const std::span<const Parameter> parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if ((given >> i & 1U) == 0) {
      if (!parameter.fallback) {
        throw InputError(std::string(kernel_name(kernel)) + " needs " +
                         std::string(parameter.name) + ": " + std::string(parameter.meaning));
      }
      problem[i] = *parameter.fallback;
    }
    if (problem[i] < parameter.minimum || problem[i] > parameter.maximum) {
      throw InputError(std::string(parameter.name) + " is " + std::to_string(problem[i]) +
                       ": give a whole number from " + std::to_string(parameter.minimum) + " to " +
                       std::to_string(parameter.maximum));
    }
  }
}

}  // namespace roofcast
