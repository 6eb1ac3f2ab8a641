#include "model/candidates.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "model/laws/bounds.hpp"

namespace roofcast {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// Time of the first `launches` without their first accesses, which an outline's bound has.
double time_of_first_s(const SequenceTime& time, std::size_t launches) {
  double sum_s = 0;
  for (const TimedLaunch& one : std::span(time.launches).first(launches)) {
    sum_s += one.node->repeats * (one.time.time_s - one.time.parts[Part::first_access]);
  }
  return sum_s;
}

// The candidate, still without its limit.
Candidate timed(const Question& question) {
  const Gpu& gpu = question.gpu;
  Candidate one{question.problem, question.kernel.kernel->plan_of(question.problem, gpu)};
  one.time = sequence_time(one.sequence, gpu, question.assumptions);
  return one;
}

/// The candidates of a question, ordered by lower bounds of their times.
struct Ordered {
  std::vector<Problem> problems;
  std::vector<std::pair<double, std::size_t>> order{};  ///< lower bound (s), position
  std::size_t copies = 0;                               ///< launches before each GEMM
};

Ordered ordered(const Question& question) {
  const KernelModel& kernel = *question.kernel.kernel;
  Ordered result{kernel.candidates(question.problem, question.gpu)};
  result.order.reserve(result.problems.size());
  for (std::size_t i = 0; i < result.problems.size(); ++i) result.order.emplace_back(0, i);
  if (kernel.outlines == nullptr || result.problems.size() == 1) return result;
  try {
    const auto outlines = kernel.outlines(result.problems, question.gpu);
    result.copies = outlines.front().copies;
    for (auto& [bound_s, i] : result.order) {
      bound_s = least_time_s(outlines[i], question.gpu, question.assumptions);
    }
    std::sort(result.order.begin(), result.order.end());
  } catch (const InputError&) {  // the forecasts say why
  }
  return result;
}

}  // namespace

Candidate candidate_of(const Question& question) {
  Candidate one = timed(question);
  one.limit = limit(one.sequence, question.gpu, question.assumptions.cache);
  return one;
}

double Candidate::expected_s() const {
  if (!time) return kForever;
  return std::max(time->schedule.total_s, limit.time_s);
}

Candidate fastest_candidate(const Question& question) {
  const KernelModel& kernel = *question.kernel.kernel;
  if (kernel.candidates == nullptr) return candidate_of(question);
  const auto [problems, order, copies] = ordered(question);
  // The first candidate wins among equal times, and among refusals if all are refused.
  std::optional<Candidate> best;
  std::optional<InputError> refusal;
  std::size_t position = problems.size(), refused = problems.size();
  // Time of the copies before the GEMM. It varies back to back, where partial sums evict operands.
  double copies_s = 0;
  for (const auto& [bound_s, i] : order) {
    const double least_s = best ? best->expected_s() : kForever;
    if (bound_s + copies_s > least_s) break;
    try {
      Candidate one = timed(question.with(problems[i]));
      if (one.expected_s() > least_s) continue;
      one.limit = limit(one.sequence, question.gpu, question.assumptions.cache);
      if (std::pair(one.expected_s(), i) > std::pair(least_s, position)) continue;
      if (one.time && !back_to_back(question.assumptions.cache)) {
        copies_s = time_of_first_s(*one.time, copies);
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
