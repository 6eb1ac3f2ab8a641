#include "model/counting/totals.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

// Σ of_step(step) over the steps of all blocks.
template <class OfStep>
auto sum_of(const Plan& plan, const OfStep& of_step) {
  decltype(1.0 * of_step(Step())) sum{};
  for (const BlockClass& blocks : plan.blocks) {
    for (const Phase& phase : blocks.phases) {
      sum += as_double(blocks.count) * phase.repeats * of_step(phase.step);
    }
  }
  return sum;
}

}  // namespace

Work issued_by_launch(const Plan& plan) {
  return sum_of(plan, [](const Step& step) -> const Work& { return step.issued; });
}

Traffic issued_l2(const Plan& plan) {
  return sum_of(plan, [](const Step& step) { return step.issued.l2; });
}

double issued_instructions(const Plan& plan) {
  return sum_of(plan, [](const Step& step) { return step.warp_instructions; });
}

Work total_work(const Plan& plan) {
  const Work issued = issued_by_launch(plan);
  Work total = plan.useful;
  total.requested = issued.requested;
  total.l1 = issued.l1;
  total.l2 = issued.l2;
  total.shared_bytes = issued.shared_bytes;
  for (const ArrayUse& use : plan.arrays) {
    total.compulsory += use.compulsory;
    total.dram_footprint += use.footprint;
  }
  return total;
}

double allocated_bytes(const LaunchSequence& sequence) {
  std::map<ArrayId, double> arrays;
  for (const Launched& one : sequence) {
    for (const ArrayUse& use : one.plan.arrays) {
      double& bytes = arrays[use.array];
      bytes = std::max({bytes, use.footprint.read_bytes / use.pattern.read_density,
                        use.footprint.write_bytes, use.compulsory.total_bytes()});
      if (use.random) bytes = std::max(bytes, use.random->table_bytes);
    }
  }
  return std::accumulate(arrays.begin(), arrays.end(), 0.0,
                         [](double sum, const auto& one) { return sum + one.second; });
}

std::optional<Activation> activation_of(const LaunchSequence& sequence) {
  for (const Launched& node : sequence) {
    for (std::size_t i = 0; i < node.plan.arrays.size(); ++i) {
      const ArrayUse& use = node.plan.arrays[i];
      if (use.activation) return Activation{use.input.value_or(i), use.compulsory.read_bytes};
    }
  }
  return std::nullopt;
}

}  // namespace roofcast
