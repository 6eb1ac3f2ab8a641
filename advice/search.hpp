#pragma once
// The search behind all advice: values to try, a forecast of each, and those that gain.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "advice/advice.hpp"
#include "model/counting/integers.hpp"

namespace roofcast {

using Values = std::vector<std::int64_t>;
using Shapes = std::vector<const Prediction*>;

inline double time_s(const Prediction& prediction) {
  return prediction.time->expected_s;
}

/// Forecasts of problems near the asked one, each once, without those the kernel refuses.
class Search {
 public:
  explicit Search(const Question& asked) : asked_(asked) { tried_.insert(asked.problem.values); }

  /// Forecasts every combination of values of the parameters at these positions, the last fastest.
  void try_all(Problem problem, std::span<const std::size_t> positions,
               std::span<const Values> values) {
    if (!positions.empty()) {
      for (const std::int64_t value : values.front()) {
        problem[positions.front()] = value;
        try_all(problem, positions.subspan(1), values.subspan(1));
      }
    } else if (tried_.insert(problem.values).second) {
      try {
        found_.push_back(predict(asked_.with(problem)));
      } catch (const InputError&) {  // the kernel refuses it
      }
    }
  }

  /// Number of problems tried, the asked one included.
  std::size_t forecasts() const { return tried_.size(); }
  const std::vector<Prediction>& found() const { return found_; }

 private:
  Question asked_;
  std::set<std::array<std::int64_t, Problem::kMaxParameters>> tried_;
  std::vector<Prediction> found_;
};

/// Pointers to the elements in the order of their rank (stable).
template <class Found, class Rank>
auto in_order(const Found& found, const Rank& rank) {
  std::vector<decltype(&*found.begin())> order;
  order.reserve(found.size());
  for (const auto& one : found) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  return order;
}

/// Takes, in the order of rank, each forecast better than the asked one and all taken before. The
/// last one taken comes first.
template <class Forecast, class Rank, class Better>
std::vector<const Forecast*> improvements(const std::vector<Forecast>& found, const Forecast& asked,
                                          const Rank& rank, const Better& is_better) {
  std::vector<const Forecast*> taken = {&asked};
  for (const Forecast* one : in_order(found, rank)) {
    if (std::all_of(taken.begin(), taken.end(),
                    [&](const auto* other) { return is_better(*one, *other); })) {
      taken.push_back(one);
    }
  }
  std::reverse(taken.begin(), taken.end());
  taken.pop_back();
  return taken;
}

inline void require_time(const Prediction& prediction, const Gpu& gpu) {
  require(prediction.time.has_value(), "no expected time on ", gpu.name,
          ": choose a GPU whose SMs and clock are known (`roofcast gpus`)");
}

/// Positions of the parameters for which `holds` is true.
template <class Holds>
std::vector<std::size_t> positions(const KernelRef& kernel, const Holds& holds) {
  std::vector<std::size_t> found;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (holds(parameters[i])) found.push_back(i);
  }
  return found;
}

}  // namespace roofcast
