#include "model/candidates.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/laws/bounds.hpp"

namespace roofcast {

std::optional<Candidate> candidate_of(const Question& question, double at_most_s) {
  const Gpu& gpu = question.gpu;
  const Assumptions& assumptions = question.assumptions;
  Candidate one{question.problem, question.kernel.kernel->plan_of(question.problem, gpu)};
  one.time = sequence_time(one.sequence, gpu, assumptions);
  if (one.time && one.time->schedule.total_s > at_most_s) return std::nullopt;
  one.limit = limit(one.sequence, gpu, assumptions.cache);
  return one;
}

double Candidate::expected_s() const {
  return std::max(time->schedule.total_s, limit.time_s);
}

Candidate fastest_candidate(const Question& question) {
  const KernelModel& kernel = *question.kernel.kernel;
  if (kernel.candidates == nullptr) return *candidate_of(question);
  const std::vector<Problem> problems = kernel.candidates(question.problem, question.gpu);
  std::vector<std::pair<double, std::size_t>> order;  // lower bound of the time (s), position
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const bool bounds = kernel.outline != nullptr && problems.size() > 1;
    order.emplace_back(bounds ? least_time_s(kernel.outline(problems[i], question.gpu),
                                             question.gpu, question.assumptions)
                              : 0,
                       i);
  }
  std::sort(order.begin(), order.end());
  // The first candidate wins among equal times, and among refusals if all are refused.
  std::optional<Candidate> best;
  std::optional<InputError> refusal;
  std::size_t position = problems.size(), refused = problems.size();
  for (const auto& [bound_s, i] : order) {
    const double least_s = best && best->time ? best->expected_s() : kForever;
    if (bound_s > least_s) break;
    try {
      auto one = candidate_of(question.with(problems[i]), least_s);
      if (!one) continue;
      const double time_s = one->time ? one->expected_s() : kForever;
      if (best && std::pair(time_s, i) > std::pair(least_s, position)) continue;
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
