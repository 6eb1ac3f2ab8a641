#include <functional>
#include <numeric>

#include "model/kernels/gemm/gemm.hpp"
#include "model/search.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kAlwaysAligned = 8;
constexpr std::int64_t kWidestMultiple = 256;

// The largest power of two up to kWidestMultiple that divides the extent.
std::int64_t alignment(std::int64_t extent) {
  return std::gcd(kWidestMultiple, extent);
}

std::string reason(const KernelRef& kernel, const Prediction& from, const Prediction& to,
                   std::span<const std::size_t> varied) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const std::size_t extent : varied) {
    const std::int64_t after = alignment(to.problem[extent]);
    if (after <= alignment(from.problem[extent])) continue;
    add(message(kernel.parameters()[extent].name, " a multiple of ", after));
  }
  if (from.waves && to.waves && std::ceil(to.waves->count) < std::ceil(from.waves->count)) {
    add(figure_text(std::ceil(to.waves->count)) + " waves, not " +
        figure_text(std::ceil(from.waves->count)));
  }
  const double before = from.work.dram.total_bytes(), after = to.work.dram.total_bytes();
  if (saves(after, before)) add("DRAM bytes " + signed_percent(after / before - 1));
  const Resource was = binding(from.time->terms), is = binding(to.time->terms);
  if (was != is) add(message("bound by ", name(is), ", not ", name(was)));
  return text.empty() ? "the same bound" : text;
}

double rate(const KernelRef& kernel, const Prediction& one) {
  const double flops = is_product(kernel) ? one.work.flops() : one.useful_flops;
  return (flops > 0 ? flops : one.work.compulsory.total_bytes()) / time_s(one);
}

/// Search for larger (`up`) or smaller shapes than the asked one: all extents change the same way.
struct ShapeSearch {
  const Question& question;
  const Prediction& asked;
  std::span<const std::size_t> extents;
  double within;
  bool up;
  Search search{question};

  std::int64_t nearest(std::size_t extent, std::int64_t width) const {
    const std::int64_t value = question.problem[extent];
    return (up ? ceil_div(value, width) : value / width) * width;
  }

  std::vector<Multiples> multiples(const Problem& base, std::size_t extent) const {
    if (is_product(question.kernel)) return product_multiples(question, base, extent);
    std::vector<Multiples> found;
    for (std::int64_t width = 2; width <= kWidestMultiple; width *= 2) {
      found.push_back({width, 1, width <= kAlwaysAligned});
    }
    return found;
  }

  /// Values to try for an extent, the nearest first.
  Values values_near(const Problem& base, std::size_t extent) const {
    const Parameter& parameter = question.kernel.parameters()[extent];
    const std::int64_t least = std::max<std::int64_t>(1, parameter.minimum);
    const double from = as_double(question.problem[extent]);
    std::set<std::int64_t> values = {base[extent]};
    for (const auto& [width, count, always] : multiples(base, extent)) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t value = nearest(extent, width) + (up ? i : -i) * width;
        const bool in_reach =
            (always && i == 0) || std::abs(as_double(value) - from) <= within * from;
        if (in_reach && value >= least && value <= parameter.maximum) values.insert(value);
      }
    }
    return up ? Values(values.begin(), values.end()) : Values(values.rbegin(), values.rend());
  }

  /// Forecasts one changed extent at a time, then combinations of the values best alone.
  void around(const Problem& base) {
    std::vector<Values> together;
    for (const std::size_t extent : extents) {
      const std::size_t before = search.found().size();
      search.try_all(base, {&extent, 1}, std::array{values_near(base, extent)});
      const auto alone = std::span(search.found()).subspan(before);
      Values& kept = together.emplace_back(Values{base[extent]});
      const bool of_product = is_product(question.kernel);
      const auto rate_of = [&](const Prediction& one) { return rate(question.kernel, one); };
      const auto keep = [&](int most, const auto& rank) {
        for (const Prediction* one : in_order(alone, rank)) {
          if (!of_product && rate_of(*one) <= rate_of(asked)) continue;
          if (most-- > 0) kept.push_back(one->problem[extent]);
        }
      };
      if (of_product) keep(2, time_s);
      keep(of_product ? 2 : 3, [&](const Prediction& one) { return -rate_of(one); });
    }
    search.try_all(base, extents, together);
  }

  const std::vector<Prediction>& found() {
    if (is_product(question.kernel)) {  // also around the nearest aligned shape
      Problem aligned = question.problem;
      for (const std::size_t extent : extents) {
        const Multiples first = multiples(question.problem, extent).front();
        if (first.always) aligned[extent] = nearest(extent, first.width);
      }
      const auto is_there = [&](std::size_t extent) { return aligned[extent] > 0; };
      if (aligned != question.problem && std::all_of(extents.begin(), extents.end(), is_there)) {
        around(aligned);
      }
    }
    around(question.problem);
    return search.found();
  }
};

bool contains(const Prediction& larger, const Prediction& smaller) {
  return std::equal(larger.problem.values.begin(), larger.problem.values.begin() + gemm::kTileM,
                    smaller.problem.values.begin(), std::greater_equal<>());
}

/// Larger GEMMs whose growth is free at every step from the base, the largest first, none within
/// another. Growth is free if it adds at most kFreeShare of its proportional time, and kFreeTime.
template <class Size>
Shapes room(const std::vector<Prediction>& larger, const Prediction& base, const Size& size) {
  constexpr double kFreeShare = 0.1;
  const auto rank = [&](const Prediction& one) { return std::pair(size(one), time_s(one)); };
  const auto grows_free = [&](const Prediction& one, const Prediction& from) {
    if (!contains(one, from)) return &from != &base;
    const double growth = size(one) / size(from) - 1;
    return growth > 0 &&
           time_s(one) <= time_s(from) * (1 + std::min(kFreeShare * growth, kFreeTime));
  };
  Shapes outermost;
  for (const Prediction* one : improvements(larger, base, rank, grows_free)) {
    if (std::none_of(outermost.begin(), outermost.end(),
                     [&](const auto* other) { return contains(*other, *one); })) {
      outermost.push_back(one);
    }
  }
  return outermost;
}

}  // namespace

std::vector<std::size_t> extents_of(const KernelRef& kernel) {
  return positions(kernel, [](const Parameter& one) {
    return !one.configures && !one.is_text && one.choices.empty();
  });
}

ShapeAdvice advise_shapes(const Question& question, const AdviceOptions& options) {
  const KernelRef& kernel = question.kernel;
  const Prediction asked = predict(question);
  require_time(asked, question.gpu);
  // A GEMM's settings are chosen for each shape.
  const bool of_product = is_product(kernel);
  const Question from = of_product ? question : question.with(asked.problem);
  std::vector<std::size_t> extents = options.varied.value_or(extents_of(kernel));
  if (of_product) std::erase_if(extents, [](std::size_t extent) { return extent > gemm::kK; });

  const double asked_rate = rate(kernel, asked);
  const auto told = [&](AdviceKind kind, const Prediction& one) {
    AdvisedShape shape{kind, one, time_s(one) / time_s(asked) - 1, rate(kernel, one)};
    if (kind != AdviceKind::asked) shape.rate_change = shape.rate / asked_rate - 1;
    if (of_product) shape.product = product_counts(question, one);
    return shape;
  };
  ShapeAdvice advice{told(AdviceKind::asked, asked)};
  const auto add = [&](AdviceKind kind, const Shapes& shapes, const Prediction& base) {
    const AdvisedShape before = told(kind, base);
    for (std::size_t i = 0; i < std::min(kMostShapes, shapes.size()); ++i) {
      AdvisedShape& shape = advice.shapes.emplace_back(told(kind, *shapes[i]));
      shape.why = of_product ? product_reason(before, shape)
                             : reason(kernel, base, shape.prediction, extents);
    }
  };
  const auto volume = [&](const Prediction& one) {
    double product = 1;
    for (const std::size_t extent : extents) product *= as_double(one.problem[extent]);
    return product;
  };
  const auto least_change = [&](const Prediction& one) {
    return std::pair(std::abs(volume(one) - volume(asked)), time_s(one));
  };
  const auto faster = [](const Prediction& one, const Prediction& other) {
    return saves(time_s(one), time_s(other));
  };

  ShapeSearch up{from, asked, extents, options.within, true};
  const std::vector<Prediction>& larger = up.found();
  const Shapes padded = improvements(larger, asked, least_change, faster);
  add(AdviceKind::faster, padded, asked);
  if (options.smaller) {
    ShapeSearch down{from, asked, extents, options.within, false};
    const auto better = [&](const Prediction& one, const Prediction& other) {
      return faster(one, other) && saves(rate(kernel, other), rate(kernel, one));
    };
    add(AdviceKind::smaller, improvements(down.found(), asked, least_change, better), asked);
  }
  if (of_product) {
    const Prediction& base = padded.empty() ? asked : *padded.front();
    add(AdviceKind::room, room(larger, base, volume), base);
  }
  return advice;
}

}  // namespace roofcast
