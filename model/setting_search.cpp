#include <map>
#include <optional>

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

class SettingSearch {
 public:
  SettingSearch(const Question& question, std::span<const std::size_t> varied)
      : question_(question), asked_(question.problem), positions_(varied) {
    for (const std::size_t position : varied) {
      values_.push_back(values_of(question.kernel.parameters()[position], asked_[position]));
    }
  }

  SettingsAdvice run() {
    SettingsAdvice advice{question_.forecast(), {}, {positions_.begin(), positions_.end()}};
    if (!advice.asked.time) {
      throw InputError(question_.gpu.name + " has no expected time: settings cannot be compared");
    }
    best_ = asked_;
    best_s_ = time_s(advice.asked);
    const double most_s = best_s_ * (1 - kWorthNaming);
    known_.emplace(asked_.values, best_s_);
    std::size_t combinations = 1;
    for (const Values& values : values_) {
      combinations = std::min(kMostCombinations + 1, combinations * values.size());
    }
    advice.every_value = combinations <= kMostCombinations;
    if (advice.every_value) {
      walk(asked_, positions_, values_);
    } else {
      by_pairs();
    }
    advice.forecasts = known_.size();
    add_faster(advice, most_s);
    return advice;
  }

 private:
  using Settings = std::array<std::int64_t, Problem::kMaxParameters>;

  void walk(const Problem& base, std::span<const std::size_t> positions,
            std::span<const Values> values) {
    for_each_combination(base, positions, values, [&](const Problem& one) { try_one(one); });
  }

  void by_pairs() {
    double before = 0;
    do {
      before = best_s_;
      for (std::size_t a = 0; a < positions_.size(); ++a) {
        for (std::size_t b = a + 1; b < positions_.size(); ++b) {
          walk(best_, std::array{positions_[a], positions_[b]}, std::array{values_[a], values_[b]});
        }
      }
    } while (best_s_ < before);
  }

  void try_one(const Problem& problem) {
    const auto [known, is_new] = known_.try_emplace(problem.values);
    if (!is_new) return;
    try {
      known->second = time_s(question_.with(problem).forecast());
    } catch (const InputError&) {  // it cannot run
      return;
    }
    if (*known->second >= best_s_) return;
    best_s_ = *known->second;
    best_ = problem;
  }

  void add_faster(SettingsAdvice& advice, double most_s) const {
    std::vector<std::pair<double, Settings>> order;
    for (const auto& [settings, time] : known_) {
      if (time && *time <= most_s) order.emplace_back(*time, settings);
    }
    std::sort(order.begin(), order.end());
    if (order.size() > kMostFaster) order.resize(kMostFaster);
    Problem problem = asked_;
    for (const auto& one : order) {
      problem.values = one.second;
      advice.faster.push_back(question_.with(problem).forecast());
    }
  }

  const Question& question_;
  const Problem& asked_;
  std::span<const std::size_t> positions_;
  std::vector<Values> values_;
  Problem best_;
  double best_s_ = 0;
  std::map<Settings, std::optional<double>> known_;  ///< nothing of settings that cannot run
};

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
  return SettingSearch(question, varied).run();
}

}  // namespace roofcast
