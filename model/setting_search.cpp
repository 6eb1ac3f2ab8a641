#include "model/shape_search.hpp"

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

/// All values of two settings at a time, from the best so far, until none is better.
void search_by_pairs(NearbySearch& search, const Problem& asked, double asked_s,
                     std::span<const std::size_t> positions, std::span<const Values> values) {
  Problem best = asked;
  double best_s = asked_s, before_s = 0;
  std::size_t seen = 0;
  do {
    before_s = best_s;
    for (std::size_t a = 0; a < positions.size(); ++a) {
      for (std::size_t b = a + 1; b < positions.size(); ++b) {
        search.visit_all(best, std::array{positions[a], positions[b]},
                         std::array{values[a], values[b]});
        for (; seen < search.found().size(); ++seen) {
          if (time_s(search.found()[seen]) >= best_s) continue;
          best_s = time_s(search.found()[seen]);
          best = search.questions()[seen];
        }
      }
    }
  } while (best_s < before_s);
}

}  // namespace

std::vector<std::size_t> settings_of(const KernelRef& kernel) {
  std::vector<std::size_t> found;
  if (kernel.kernel == nullptr || !kernel.kernel->own_choice.empty()) return found;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].configures) found.push_back(i);
  }
  return found;
}

SettingsAdvice advise_settings(const Question& question, std::span<const std::size_t> varied) {
  const Problem& problem = question.problem;
  SettingsAdvice advice{question.forecast(), {}, {varied.begin(), varied.end()}};
  require(advice.asked.time.has_value(), question.gpu.name,
          " has no expected time: settings cannot be compared");
  std::vector<Values> values;
  std::size_t combinations = 1;
  for (const std::size_t position : varied) {
    values.push_back(values_of(question.kernel.parameters()[position], problem[position]));
    combinations = std::min(kMostCombinations + 1, combinations * values.back().size());
  }
  advice.every_value = combinations <= kMostCombinations;
  const double asked_s = time_s(advice.asked);
  NearbySearch search(question);
  if (advice.every_value) {
    search.visit_all(problem, varied, values);
  } else {
    search_by_pairs(search, problem, asked_s, varied, values);
  }
  advice.forecasts = search.forecasts();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < search.found().size(); ++i) {
    if (saves(time_s(search.found()[i]), asked_s)) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(time_s(search.found()[a]), search.questions()[a].values) <
           std::pair(time_s(search.found()[b]), search.questions()[b].values);
  });
  for (std::size_t i = 0; i < std::min(kMostFaster, order.size()); ++i) {
    advice.faster.push_back(search.found()[order[i]]);
  }
  return advice;
}

}  // namespace roofcast
