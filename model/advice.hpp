#pragma once
// What advice on settings and on shapes of any kernel has in common.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/predict.hpp"
#include "model/types/problem.hpp"

namespace roofcast {

/// What advice starts from: a kernel, a checked problem of it, and the device, all of which outlive
/// the question.
struct Question {
  const KernelRef& kernel;
  const Problem& problem;
  const Gpu& gpu;
  Assumptions assumptions{};

  Question with(const Problem& other) const { return {kernel, other, gpu, assumptions}; }
  /// Throws InputError as predict.
  Prediction forecast() const { return predict(kernel, problem, gpu, assumptions); }
};

/// A forecast gain of less is noise. Of products that differ by one in m, published measurements
/// (gemm_tensor.csv, ai-dynamo/aiconfigurator, bf16, m from 33) differ by up to 9% to either side
/// where the forecasts are equal, in 8 of 10 pairs; from a forecast of 3% on, the one forecast
/// faster was faster in 93 of 120 pairs. Two collections of the same products differ
/// by about 3% too.
inline constexpr double kWorthNaming = 0.03;

/// Whether the first time is less by kWorthNaming or more; of rates, the better one stands second.
constexpr bool saves(double less, double more) {
  return less <= more * (1 - kWorthNaming);
}

/// How far the extents of a shape may change, and how much is told.
struct AdviceOptions {
  double within = 0.05;  ///< of each extent; to be aligned, it always may
  std::optional<std::vector<std::size_t>> varied{};  ///< positions of extents; absent: all
  bool smaller = true;                               ///< also shapes that leave something out
  std::size_t most = 5;                              ///< shapes of a kind
};

enum class AdviceKind : unsigned char {
  faster,   ///< holds the asked shape, zeros added, and takes less time
  smaller,  ///< part of the asked shape, with a higher rate
  room      ///< holds the asked shape, or the best faster one, at no more time
};
inline constexpr std::array kAdviceKinds = {AdviceKind::faster, AdviceKind::smaller,
                                            AdviceKind::room};
constexpr std::string_view name(AdviceKind kind) {
  constexpr std::array<std::string_view, kAdviceKinds.size()> names = {"faster", "smaller", "free"};
  return names[static_cast<std::size_t>(kind)];
}

/// Visits every combination of values of the parameters at these positions, the others as in
/// `problem`: the last position changes fastest.
template <class Visit>
void for_each_combination(Problem problem, std::span<const std::size_t> positions,
                          std::span<const std::vector<std::int64_t>> values, const Visit& visit) {
  if (positions.empty()) return visit(problem);
  for (const std::int64_t value : values.front()) {
    problem[positions.front()] = value;
    for_each_combination(problem, positions.subspan(1), values.subspan(1), visit);
  }
}

/// Of shapes, from those that change the volume least on, each that is better than the asked one
/// and than all taken before it; the last taken first. Of equal change the fastest comes first.
template <class Forecast, class Volume, class Time, class Better>
std::vector<const Forecast*> improvements(const std::vector<Forecast>& shapes,
                                          const Forecast& asked, const Volume& volume,
                                          const Time& time_s, const Better& is_better) {
  std::vector<const Forecast*> order;
  order.reserve(shapes.size());
  for (const Forecast& one : shapes) order.push_back(&one);
  const auto rank = [&](const Forecast* one) {
    return std::pair(std::abs(volume(*one) - volume(asked)), time_s(*one));
  };
  std::sort(order.begin(), order.end(),
            [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
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

}  // namespace roofcast
