#include "advice/search.hpp"

namespace roofcast {
namespace {

constexpr std::size_t kMostCombinations = 4096;
constexpr std::size_t kMostFaster = 5;

Values values_of(const Parameter& parameter, std::int64_t asked) {
  if (parameter.minimum == kToChoose) return {kToChoose, asked};
  std::set<std::int64_t> values = {asked};
  for (std::int64_t value = 1; value <= parameter.maximum; value *= 2) {
    if (value >= parameter.minimum) values.insert(value);
  }
  return {values.begin(), values.end()};
}

/// Forecasts all values of two settings at a time, from the best so far, until none is better.
void search_by_pairs(Search& search, Problem best, double best_s,
                     std::span<const std::size_t> positions, std::span<const Values> values) {
  std::size_t seen = 0;
  for (bool better = true; better;) {
    better = false;
    for (std::size_t a = 0; a < positions.size(); ++a) {
      for (std::size_t b = a + 1; b < positions.size(); ++b) {
        search.try_all(best, std::array{positions[a], positions[b]},
                       std::array{values[a], values[b]});
        for (; seen < search.found().size(); ++seen) {
          if (time_s(search.found()[seen]) >= best_s) continue;
          best_s = time_s(search.found()[seen]);
          best = search.found()[seen].problem;
          better = true;
        }
      }
    }
  }
}

}  // namespace

std::vector<std::size_t> settings_of(const KernelRef& kernel) {
  if (kernel.kernel == nullptr || !kernel.kernel->own_choice.empty()) return {};
  return positions(kernel, [](const Parameter& one) { return one.configures; });
}

SettingsAdvice advise_settings(const Question& question, std::span<const std::size_t> varied) {
  const Problem& problem = question.problem;
  SettingsAdvice advice{predict(question), {}, {varied.begin(), varied.end()}};
  require_time(advice.asked, question.gpu);
  const double asked_s = time_s(advice.asked);
  std::vector<Values> values;
  std::size_t combinations = 1;
  for (const std::size_t position : varied) {
    values.push_back(values_of(question.kernel.parameters()[position], problem[position]));
    combinations = std::min(kMostCombinations + 1, combinations * values.back().size());
  }
  Search search(question);
  advice.every_value = combinations <= kMostCombinations;
  if (advice.every_value) {
    search.try_all(problem, varied, values);
  } else {
    search_by_pairs(search, problem, asked_s, varied, values);
  }
  advice.forecasts = search.forecasts();
  for (const Prediction* one : in_order(search.found(), time_s)) {
    if (advice.faster.size() == kMostFaster || !saves(time_s(*one), asked_s)) break;
    advice.faster.push_back(*one);
  }
  return advice;
}

}  // namespace roofcast
