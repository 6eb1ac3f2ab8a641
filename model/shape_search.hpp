#pragma once
// Problems near one, each with its forecast, and those that are worth naming.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/advice.hpp"
#include "model/counting/integers.hpp"

namespace roofcast {

using Values = std::vector<std::int64_t>;
using Shapes = std::vector<const Prediction*>;

inline double time_s(const Prediction& prediction) {
  return prediction.time->expected_s;
}

inline double volume(const Prediction& shape, std::span<const std::size_t> extents) {
  double product = 1;
  for (const std::size_t extent : extents) product *= as_double(shape.problem[extent]);
  return product;
}

/// Problems near the asked one, each forecast once, without those that the kernel does not take.
class NearbySearch {
 public:
  explicit NearbySearch(const Question& asked) : asked_(asked) {
    tried_.insert(asked.problem.values);
  }

  void visit(const Problem& problem) {
    if (!tried_.insert(problem.values).second) return;
    try {
      found_.push_back(asked_.with(problem).forecast());
      questions_.push_back(problem);
    } catch (const InputError&) {  // the kernel does not take it
    }
  }

  /// Every combination of values of the parameters at these positions, the last changing fastest.
  void visit_all(Problem base, std::span<const std::size_t> positions,
                 std::span<const Values> values) {
    if (positions.empty()) return visit(base);
    for (const std::int64_t value : values.front()) {
      base[positions.front()] = value;
      visit_all(base, positions.subspan(1), values.subspan(1));
    }
  }

  /// One extent at a time, with `values(extent)`. `keep(shapes, extent, kept)` chooses among the
  /// shapes found the values to combine with those of other extents.
  template <class Of, class Keep>
  void around(const Problem& base, std::span<const std::size_t> extents, const Of& values,
              const Keep& keep) {
    std::vector<Values> kept;
    for (const std::size_t extent : extents) {
      const std::size_t first = found_.size();
      Problem near = base;
      for (const std::int64_t value : values(extent)) {
        near[extent] = value;
        visit(near);
      }
      Shapes alone;
      for (std::size_t i = first; i < found_.size(); ++i) alone.push_back(&found_[i]);
      keep(alone, extent, kept.emplace_back(Values{base[extent]}));
    }
    visit_all(base, extents, kept);
  }

  /// With that of the asked problem.
  std::size_t forecasts() const { return tried_.size(); }
  /// As asked for each of those found, with settings left to choose.
  const std::vector<Problem>& questions() const { return questions_; }
  const std::vector<Prediction>& found() const { return found_; }

 private:
  const Question& asked_;
  std::set<std::array<std::int64_t, Problem::kMaxParameters>> tried_;
  std::vector<Problem> questions_;
  std::vector<Prediction> found_;
};

/// Adds the values that an extent has in the first few shapes of an order, each once.
template <class Rank>
void keep_first(std::size_t most, Shapes& shapes, const Rank& rank, std::size_t extent,
                Values& kept) {
  std::stable_sort(shapes.begin(), shapes.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  for (std::size_t i = 0; i < std::min(most, shapes.size()); ++i) {
    const std::int64_t value = shapes[i]->problem[extent];
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
  }
}

/// Of shapes in the order of their rank, each that is better than the asked one and than all taken
/// before it; the last taken first.
template <class Forecast, class Rank, class Better>
std::vector<const Forecast*> improvements_by(const Rank& rank, const std::vector<Forecast>& shapes,
                                             const Forecast& asked, const Better& is_better) {
  std::vector<const Forecast*> order;
  order.reserve(shapes.size());
  for (const Forecast& one : shapes) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return rank(*a) < rank(*b); });
  std::vector<const Forecast*> taken = {&asked};
  for (const Forecast* one : order) {
    if (std::all_of(taken.begin(), taken.end(),
                    [&](const auto* other) { return is_better(*one, *other); })) {
      taken.push_back(one);
    }
  }
  std::reverse(taken.begin(), taken.end());
  taken.pop_back();
  return taken;
}

/// The same from those that change the volume least on; of equal change the fastest comes first.
template <class Better>
Shapes improvements(const std::vector<Prediction>& shapes, const Prediction& asked,
                    std::span<const std::size_t> extents, const Better& is_better) {
  const auto rank = [&](const Prediction& one) {
    return std::pair(std::abs(volume(one, extents) - volume(asked, extents)), time_s(one));
  };
  return improvements_by(rank, shapes, asked, is_better);
}

}  // namespace roofcast
