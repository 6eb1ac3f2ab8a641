#include "model/candidates.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "model/laws/bounds.hpp"
#include "model/laws/outline_bound.hpp"

namespace roofcast {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// The candidate, unless it takes longer than `at_most_s`. A limit is asked for only where it may
// matter.
std::optional<Candidate> faster_candidate(const KernelRef& kernel, const Problem& problem,
                                          const Gpu& gpu, const Assumptions& assumptions,
                                          double at_most_s,
                                          std::span<const TimedLaunch> known = {}) {
  Candidate one{problem, kernel.kernel->plan_of(problem, gpu), {}, std::nullopt, std::nullopt};
  if (gpu.occupancy && gpu.sm_count) one.clock = clock_of(one.program, gpu, assumptions);
  if (one.clock) {
    one.time = program_time(one.program, *one.clock, gpu, assumptions, known);
    if (one.time->total_s() > at_most_s) return std::nullopt;
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
    order_.reserve(problems_.size());
    const auto outline = problems_.size() > 1 ? kernel.kernel->outline : nullptr;
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      double least_s = 0;
      if (outline != nullptr) {
        const Outline brief = outline(problems_[i], gpu);
        if (i == 0) begin(brief);
        least_s = beginning_s_ + least_time_s(brief, gpu, assumptions);
      }
      order_.emplace_back(least_s, i);
    }
    std::sort(order_.begin(), order_.end());
  }

  /// Of equal times and of refusals the first in the order of the candidates counts.
  Candidate fastest() const {
    std::optional<Candidate> best;
    std::optional<InputError> refusal;
    std::size_t position = problems_.size(), refused = problems_.size();
    for (const auto& [bound_s, i] : order_) {
      const bool timed = best && best->time;
      const double least_s = timed ? best->expected_s() : kForever;
      if (bound_s > least_s) break;
      try {
        auto one = faster_candidate(kernel_, problems_[i], gpu_, assumptions_, least_s, known_);
        if (!one) continue;
        const double time_s = one->time ? one->expected_s() : kForever;
        if (best && (time_s > least_s || (time_s == least_s && position < i))) continue;
        best = std::move(one);
        position = i;
      } catch (const InputError& error) {
        if (i > refused) continue;
        refusal = error;
        refused = i;
      }
    }
    if (best) return std::move(*best);
    throw refusal.value_or(InputError("no candidate computes it: leave settings open"));
  }

 private:
  // Launches that all candidates begin with are timed once. Where they do not fit, so does none.
  void begin(const Outline& outline) {
    if (kernel_.kernel->before == nullptr || !gpu_.occupancy || !gpu_.sm_count) return;
    const auto clock = expected_clock(outline.on_tensor_cores, gpu_, assumptions_);
    if (!clock) return;
    beginning_ = kernel_.kernel->before(problems_.front(), gpu_);
    try {
      known_ = beginning_times(beginning_, *clock, gpu_, assumptions_.cache);
    } catch (const InputError&) {
      return;
    }
    const double gap_s = launch_costs(gpu_, assumptions_).next_s;
    for (const auto& [node, fit, memory, time] : known_) {
      const bool early = node->plan.start == Start::programmatic;
      beginning_s_ += node->repeats * (time.time_s + (early ? 0 : gap_s));
    }
  }

  const KernelRef& kernel_;
  const Gpu& gpu_;
  const Assumptions& assumptions_;
  std::vector<Problem> problems_;
  std::vector<std::pair<double, std::size_t>> order_;
  LaunchSequence beginning_;
  std::vector<TimedLaunch> known_;
  double beginning_s_ = 0;
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
