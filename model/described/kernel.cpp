#include "model/described/kernel.hpp"

#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::described {
namespace {

/// The description with the tables that refer to it: it stays where it was made.
class OwnKernel : public PlanSource {
 public:
  explicit OwnKernel(Description description) : description_(std::move(description)) {
    for (std::size_t i = 0; i < description_.parameters.size(); ++i) {
      const Range range = i < description_.ranges.size() ? description_.ranges[i] : Range{};
      parameters_.push_back({description_.parameters[i], description_.meanings[i], range.minimum,
                             range.maximum, description_.fallbacks[i], range.is_setting});
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
  if (description.parts.empty()) {
    const auto number = [](std::string_view text) { return Quantity(text, {}); };
    description.parts.push_back({number("1"), number("1"), number("0"), number("1")});
  }
  const auto owned = std::make_shared<const OwnKernel>(std::move(description));
  return {&owned->family(), &owned->kernel(), owned};
}

}  // namespace roofcast::described
