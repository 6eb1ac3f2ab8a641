#include "model/candidates.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/laws/bounds.hpp"

namespace roofcast {
namespace {

/// Candidates in the order of the lower bounds of their times.
struct Bounds {
  std::vector<std::pair<double, std::size_t>> order;  ///< bound (s), position
  std::size_t copies = 0;                             ///< launches with which all candidates begin
};

// Without an outline, or for a single candidate, bounds are 0.
Bounds bounds_of(const std::vector<Problem>& problems, const Question& question) {
  const auto outline = problems.size() > 1 ? question.kernel.kernel->outline : nullptr;
  Bounds bounds;
  bounds.order.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    double least_s = 0;
    if (outline != nullptr) {
      const Outline brief = outline(problems[i], question.gpu);
      least_s = least_time_s(brief, question.gpu, question.assumptions);
      bounds.copies = brief.copies;
    }
    bounds.order.emplace_back(least_s, i);
  }
  std::sort(bounds.order.begin(), bounds.order.end());
  return bounds;
}

}  // namespace

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
  const Bounds bounds = bounds_of(problems, question);
  // The first candidate wins among equal times, and among refusals if all are refused.
  std::optional<Candidate> best;
  std::optional<InputError> refusal;
  std::size_t position = problems.size(), refused = problems.size();
  // The first candidate gives the copies' time for all. Not back to back: L2 then keeps data of an
  // earlier run that differs between candidates.
  double copies_s = 0;
  const bool tells_copies = !back_to_back(question.assumptions.cache);
  for (const auto& [bound_s, i] : bounds.order) {
    const double least_s = best && best->time ? best->expected_s() : kForever;
    if (bound_s + copies_s > least_s) break;
    try {
      auto one = candidate_of(question.with(problems[i]), least_s);
      if (!one) continue;
      const double time_s = one->time ? one->expected_s() : kForever;
      if (best && std::pair(time_s, i) > std::pair(least_s, position)) continue;
      if (one->time && !best && tells_copies) {
        for (std::size_t copy = 0; copy < bounds.copies; ++copy) {
          copies_s += one->time->launches[copy].total_s();
        }
      }
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
