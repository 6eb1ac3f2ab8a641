#include "model/counting/totals.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

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

// Σ over the arrays of the largest of_use(use) of each.
template <class OfUse>
double sum_over_arrays(std::span<const Launched> launches, const OfUse& of_use) {
  std::vector<double> largest;  // by ArrayId
  for (const Launched& one : launches) {
    for (const ArrayUse& use : one.plan.arrays) {
      const auto array = static_cast<std::size_t>(use.array);
      if (array >= largest.size()) largest.resize(array + 1);
      largest[array] = std::max(largest[array], of_use(use));
    }
  }
  return std::accumulate(largest.begin(), largest.end(), 0.0);
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

double allocated_bytes(std::span<const Launched> launches) {
  return sum_over_arrays(launches, [](const ArrayUse& use) {
    return std::max({use.footprint.read_bytes / use.pattern.read_density, use.footprint.write_bytes,
                     use.compulsory.total_bytes(), use.random ? use.random->table_bytes : 0});
  });
}

double touched_bytes(std::span<const Launched> launches) {
  return sum_over_arrays(launches, [](const ArrayUse& use) {
    return std::max(
        {use.footprint.read_bytes, use.footprint.write_bytes, use.compulsory.read_bytes});
  });
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
