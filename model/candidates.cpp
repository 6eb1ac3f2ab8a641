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

// The candidate, unless it takes longer than `at_most_s`: then its limit does not matter.
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

/// Launches that all candidates begin with, timed once. Where they do not fit, so does none.
struct Beginning {
  LaunchSequence program;
  std::vector<TimedLaunch> launches;
  double time_s = 0;

  void find(const KernelRef& kernel, const Problem& problem, bool on_tensor_cores, const Gpu& gpu,
            const Assumptions& assumptions) {
    if (kernel.kernel->before == nullptr || !gpu.occupancy || !gpu.sm_count) return;
    const auto clock = expected_clock(on_tensor_cores, gpu, assumptions);
    if (!clock) return;
    program = kernel.kernel->before(problem, gpu);
    try {
      launches = beginning_times(program, *clock, gpu, assumptions.cache);
    } catch (const InputError&) {
      return;
    }
    const double gap_s = launch_costs(gpu, assumptions).next_s;
    for (const auto& [node, fit, memory, time] : launches) {
      const bool early = node->plan.start == Start::programmatic;
      time_s += node->repeats * (time.time_s + (early ? 0 : gap_s));
    }
  }
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
  const std::vector<Problem> problems = kernel.kernel->candidates(problem, gpu);
  const auto outline = problems.size() > 1 ? kernel.kernel->outline : nullptr;
  Beginning beginning;
  std::vector<std::pair<double, std::size_t>> order;  // by what each takes at the least
  order.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    double least_s = 0;
    if (outline != nullptr) {
      const Outline brief = outline(problems[i], gpu);
      if (i == 0) beginning.find(kernel, problems[0], brief.on_tensor_cores, gpu, assumptions);
      least_s = beginning.time_s + least_time_s(brief, gpu, assumptions);
    }
    order.emplace_back(least_s, i);
  }
  std::sort(order.begin(), order.end());
  // Of equal times, and of refusals, the first candidate's counts.
  std::optional<Candidate> best;
  std::optional<InputError> refusal;
  std::size_t position = problems.size(), refused = problems.size();
  for (const auto& [bound_s, i] : order) {
    const double least_s = best && best->time ? best->expected_s() : kForever;
    if (bound_s > least_s) break;
    try {
      auto one =
          faster_candidate(kernel, problems[i], gpu, assumptions, least_s, beginning.launches);
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

}  // namespace roofcast
