#include "model/candidates.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "model/laws/bounds.hpp"
#include "model/laws/outline_bound.hpp"

namespace roofcast {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// The candidate, unless it takes `at_most` or more. A limit is asked for only where it may matter.
std::optional<Candidate> faster_candidate(const KernelRef& kernel, const Problem& problem,
                                          const Gpu& gpu, const Assumptions& assumptions,
                                          double at_most_s) {
  Candidate one{problem, kernel.kernel->plan_of(problem, gpu), {}, std::nullopt, std::nullopt};
  if (gpu.occupancy && gpu.sm_count) one.clock = clock_of(one.program, gpu, assumptions);
  if (one.clock) {
    one.time = program_time(one.program, *one.clock, gpu, assumptions);
    if (one.time->total_s() >= at_most_s) return std::nullopt;
  }
  one.limit = limit(one.program, gpu, assumptions.cache);
  return one;
}

/// Candidates in the order of what they take at the least.
class Search {
 public:
  Search(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
         const Assumptions& assumptions)
      : kernel_(kernel),
        gpu_(gpu),
        assumptions_(assumptions),
        problems_(kernel.kernel->candidates(problem, gpu)) {
    const auto outline = problems_.size() > 1 ? kernel.kernel->outline : nullptr;
    const LaunchCosts costs = launch_costs(
        gpu, assumptions.cache, assumptions.launch.value_or(usual_launch(assumptions.cache)));
    order_.reserve(problems_.size());
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      order_.emplace_back(0, i);
      if (outline == nullptr) continue;
      const Outline brief = outline(problems_[i], gpu);
      const auto clock = assumptions.sm_clock_hz ? assumptions.sm_clock_hz
                                                 : expected_clock_hz(gpu, brief.on_tensor_cores);
      if (clock) order_.back().first = least_time_s(brief, costs, *clock, gpu);
    }
    std::sort(order_.begin(), order_.end());
  }

  Candidate fastest() const {
    std::optional<Candidate> best;
    std::optional<InputError> refusal;
    for (const auto& [bound_s, i] : order_) {
      const double least_s = best && best->time ? best->expected_s() : kForever;
      if (bound_s > least_s || (best && !best->time)) break;
      try {
        auto one = faster_candidate(kernel_, problems_[i], gpu_, assumptions_, least_s);
        if (one && (!best || one->expected_s() < least_s)) best = std::move(one);
      } catch (const InputError& error) {
        if (!refusal) refusal = error;
      }
    }
    if (best) return std::move(*best);
    throw refusal.value_or(InputError("no candidate computes it: leave settings open"));
  }

 private:
  const KernelRef& kernel_;
  const Gpu& gpu_;
  const Assumptions& assumptions_;
  std::vector<Problem> problems_;
  std::vector<std::pair<double, std::size_t>> order_;
};

}  // namespace

double Candidate::expected_s() const {
  return std::max(time->total_s(), limit.time_s);
}

Candidate candidate_of(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions) {
  return *faster_candidate(kernel, problem, gpu, assumptions, kForever);
}

Candidate fastest_candidate(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                            const Assumptions& assumptions) {
  if (kernel.kernel->candidates == nullptr) {
    return candidate_of(kernel, problem, gpu, assumptions);
  }
  return Search(kernel, problem, gpu, assumptions).fastest();
}

}  // namespace roofcast
