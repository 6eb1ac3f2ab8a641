#include "model/described/kernel.hpp"

#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::described {
namespace {

/// The description with the tables that refer to it: it stays where it was made.
struct OwnKernel {
  explicit OwnKernel(Description from) : description(std::move(from)) {
    const Description& d = description;
    for (const DescribedParameter& one : d.parameters) {
      parameters.push_back(
          {one.name, one.meaning, one.minimum, one.maximum, one.fallback, one.is_setting});
    }
    kernel = {d.name, d.summary, parameters, d.dtypes, nullptr};
    kernel.source = &source;
    family = {d.name, d.summary, parameters, d.dtypes, nullptr, streaming, {&kernel, 1}, {}};
  }

  Description description;
  std::vector<Parameter> parameters;
  PlanSource source = [this](const Problem& problem, const Gpu& gpu) {
    return roofcast::launch_of(plan(description, problem, gpu));
  };
  KernelModel kernel{};
  KernelFamily family{};
};

}  // namespace

KernelRef make_kernel(Description description) {
  if (description.parameters.size() > Problem::kMaxParameters) {
    throw InputError("a kernel takes at most " + std::to_string(Problem::kMaxParameters) +
                     " parameters: write the others as numbers");
  }
  if (description.flops.size() > 1) {
    throw InputError("the SIMT FLOPs of a kernel file are of one type: give one member of flops");
  }
  if (description.parts.empty()) description.parts.emplace_back();
  const auto owned = std::make_shared<const OwnKernel>(std::move(description));
  return {&owned->family, &owned->kernel, owned};
}

}  // namespace roofcast::described
