#include "model/catalog.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/kernels/access/access.hpp"
#include "model/kernels/attention/attention.hpp"
#include "model/kernels/divergence/divergence.hpp"
#include "model/kernels/elementwise/elementwise.hpp"
#include "model/kernels/expression/expression.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "model/kernels/norm/norm.hpp"
#include "model/kernels/recompute/recompute.hpp"
#include "model/kernels/reduce/reduce.hpp"
#include "model/kernels/softmax/softmax.hpp"
#include "model/kernels/stream/stream.hpp"
#include "model/kernels/transpose/transpose.hpp"
#include "model/libraries/convolution.hpp"
#include "model/libraries/experts.hpp"
#include "model/libraries/gemm.hpp"
#include "model/libraries/layer.hpp"
#include "model/types/did_you_mean.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast {
namespace {

void check_value(const Parameter& parameter, Problem& problem, std::size_t position) {
  if (parameter.is_text) {
    problem[position] = 0;
    require(parameter.fallback || !problem.text.empty(), parameter.name, " is empty: give ",
            parameter.meaning);
    return;
  }
  const std::int64_t value = problem[position];
  if (value >= parameter.minimum && value <= parameter.maximum) return;
  throw InputError(message(parameter.name, " is ", value, ": give ",
                           is_named(parameter) ? "" : "a whole number from ",
                           allowed_text(parameter)));
}

}  // namespace

std::span<const KernelFamily> catalog() {
  static const std::array families = {
      stream::kFamily,      elementwise::kRelu, elementwise::kGelu,  elementwise::kElu,
      elementwise::kSincos, elementwise::kFma,  elementwise::kExpr,  access::kFamily,
      transpose::kFamily,   recompute::kFamily, divergence::kFamily, softmax::kFamily,
      norm::kFamily,        reduce::kFamily,    gemm::kFamily,       attention::kFamily,
      experts::kFamily,     layer::kFamily,     gemm::kInt4Family,   convolution::kFamily,
  };
  return families;
}

KernelRef find_kernel(std::string_view name) {
  std::vector<std::string_view> known;
  for (const KernelFamily& family : catalog()) {
    if (family.name == name) return {&family, nullptr};
    known.push_back(family.name);
    for (const KernelModel& kernel : family.variants) {
      if (kernel.name == name) return {&family, &kernel};
      known.push_back(kernel.name);
    }
  }
  const std::string_view near = closest(name, known);
  throw InputError(message("no kernel is named '", name,
                           "':", near.empty() ? "" : message(" did you mean '", near, "'?"),
                           " `roofcast kernels` lists them all"));
}

std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter) {
  const auto position = position_named(kernel.parameters(), parameter);
  return position ? std::optional(problem[*position]) : std::nullopt;
}

void check(const KernelRef& kernel, Problem& problem, unsigned given) {
  const std::span<const DType> types = kernel.dtypes();
  if (std::find(types.begin(), types.end(), problem.dtype) == types.end()) {
    throw InputError(message(kernel.name(), " has no type ", name(problem.dtype), ": it takes ",
                             listed(types, [](DType type) { return name(type); })));
  }
  const std::span<const Parameter> parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if ((given >> i & 1U) == 0) {
      require(parameter.fallback.has_value(), kernel.name(), " needs ", parameter.name, ": ",
              parameter.meaning);
      problem[i] = *parameter.fallback;
    }
    check_value(parameter, problem, i);
  }
}

}  // namespace roofcast
