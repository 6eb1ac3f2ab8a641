#include "model/described/kernel.hpp"

#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::described {
namespace {

/// The description with the tables that refer to it: it stays where it was made.
class OwnKernel : public PlanSource {
 public:
  explicit OwnKernel(Description description) : description_(std::move(description)) {
    for (const DescribedParameter& one : description_.parameters) {
      parameters_.push_back(
          {one.name, one.meaning, one.minimum, one.maximum, one.fallback, one.is_setting});
    }
    kernel_ = {description_.name, description_.summary, parameters_, description_.dtypes, nullptr};
    kernel_.source = this;
    family_ = {description_.name, description_.summary, parameters_, description_.dtypes, nullptr,
               streaming,         {&kernel_, 1},        {}};
  }

  LaunchSequence plan(const Problem& problem, const Gpu& gpu) const override {
    return roofcast::launch_of(described::plan(description_, problem, gpu));
  }
  const KernelFamily& family() const { return family_; }
  const KernelModel& kernel() const { return kernel_; }

 private:
  Description description_;
  std::vector<Parameter> parameters_;
  KernelModel kernel_{};
  KernelFamily family_{};
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
  return {&owned->family(), &owned->kernel(), owned};
}

}  // namespace roofcast::described
