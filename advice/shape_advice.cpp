#include <functional>
#include <numeric>

#include "advice/search.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

// Elements of the widest access of a thread.
std::int64_t vector_of(const Problem& problem) {
  return gemm::kVectorBytes / element_bytes(problem.dtype);
}

// Share of its whole tiles that an extent fills.
double fill(std::int64_t extent, std::int64_t tile) {
  return as_double(extent) / as_double(round_up(extent, tile));
}

ProductCounts product_counts(const Question& question, const Prediction& prediction) {
  const KernelRef& kernel = question.kernel;
  const Problem &p = prediction.problem, &asked = question.problem;
  const std::int64_t layout = value_named(kernel, p, "layout").value_or(gemm::kNN);
  const std::int64_t matrices = value_named(kernel, p, "batch").value_or(1);
  return {fill(p[gemm::kM], p[gemm::kTileM]) * fill(p[gemm::kN], p[gemm::kTileN]),
          gemm::narrowest_vector(gemm::row_lengths(p, layout), p.dtype) * element_bytes(p.dtype),
          as_double(matrices) * size_bytes(p.dtype) *
              as_double(p[gemm::kK] * p[gemm::kN] - asked[gemm::kK] * asked[gemm::kN])};
}

std::string waves_text(const Prediction& one) {
  const double waves = std::ceil(one.waves->count);
  return figure_text(waves) + (waves == 1 ? " wave" : " waves");
}

std::string tile_text(const Problem& p) {
  return message(p[gemm::kTileM], "x", p[gemm::kTileN]);
}

// States the improvements. Waves and tile fill are compared only between equal tiles.
std::string reason(const KernelRef& kernel, const AdvisedShape& from, const AdvisedShape& to) {
  constexpr double kSameFill = 0.005;
  const Prediction &was = from.prediction, &is = to.prediction;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!to.product) {
    // The largest power of two, up to 256, that divides the extent.
    const auto alignment = [](std::int64_t extent) { return std::gcd(std::int64_t{256}, extent); };
    for (const std::size_t extent : extents_of(kernel)) {
      const std::int64_t aligned = alignment(is.problem[extent]);
      if (aligned <= alignment(was.problem[extent])) continue;
      add(message(kernel.parameters()[extent].name, " a multiple of ", aligned));
    }
  } else if (to.product->vector_bytes > from.product->vector_bytes) {
    add(message("rows aligned to ", to.product->vector_bytes, " B"));
  }
  const double waves_less = std::ceil(was.waves->count) - std::ceil(is.waves->count);
  if (to.product && tile_text(was.problem) != tile_text(is.problem)) {
    add(waves_text(is) + " of tiles " + tile_text(is.problem) + ", not " + waves_text(was) +
        " of " + tile_text(was.problem));
  } else {
    if (waves_less > 0) add(waves_text(is) + ", not " + waves_text(was));
    if (to.product && to.product->tile_fill > from.product->tile_fill + kSameFill) {
      add("tiles " + percent(to.product->tile_fill) + " full, not " +
          percent(from.product->tile_fill));
    }
  }
  const double before = was.work.dram.total_bytes(), after = is.work.dram.total_bytes();
  if (saves(after, before)) add("DRAM bytes " + signed_percent(after / before - 1));
  const Resource bound_was = binding(was.time->terms), bound = binding(is.time->terms);
  if (bound != bound_was) add(message("bound by ", name(bound), ", not ", name(bound_was)));
  if (text.empty()) text = waves_less == 0 ? "the same waves" : "the same bound";
  return text;
}

double rate(const Prediction& one) {
  const double flops = one.useful_flops;
  return (flops > 0 ? flops : one.work.compulsory.total_bytes()) / time_s(one);
}

/// Search for larger (`up`) or smaller shapes than the asked one: all extents change the same way.
struct ShapeSearch {
  const Question& question;
  std::span<const std::size_t> extents;
  double within;
  bool up;
  Search search{question};

  std::int64_t nearest(std::size_t extent, std::int64_t width) const {
    const std::int64_t value = question.problem[extent];
    return up ? round_up(value, width) : value / width * width;
  }

  /// Elements in 16 to 256 bytes, and the sides of the tiles that a GEMM's plan may have.
  std::set<std::int64_t> widths(const Problem& base, std::size_t extent) const {
    std::set<std::int64_t> found;
    for (std::int64_t i = 1; i <= 16; i *= 2) found.insert(i * vector_of(base));
    if (!is_product(question.kernel) || extent == gemm::kK) return found;
    const auto candidates = question.kernel.kernel->candidates;
    const std::size_t side = extent == gemm::kM ? gemm::kTileM : gemm::kTileN;
    for (const Problem& one :
         candidates != nullptr ? candidates(base, question.gpu) : std::vector{base}) {
      found.insert(one[side]);
    }
    return found;
  }

  /// Values to try for an extent, the nearest first: multiples of its widths.
  Values values_near(const Problem& base, std::size_t extent) const {
    constexpr std::int64_t kEach = 8;
    const Parameter& parameter = question.kernel.parameters()[extent];
    const std::int64_t least = std::max<std::int64_t>(1, parameter.minimum);
    const double from = as_double(question.problem[extent]);
    std::set<std::int64_t> values = {base[extent], question.problem[extent]};
    for (const std::int64_t width : widths(base, extent)) {
      for (std::int64_t i = 0; i < kEach; ++i) {
        const std::int64_t value = nearest(extent, width) + (up ? i : -i) * width;
        const bool in_reach = (i == 0 && width == vector_of(base)) ||
                              std::abs(as_double(value) - from) <= within * from;
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
      const auto keep_best = [&](const auto& rank) {
        const auto order = in_order(alone, rank);
        for (std::size_t i = 0; i < std::min<std::size_t>(2, order.size()); ++i) {
          kept.push_back(order[i]->problem[extent]);
        }
      };
      keep_best(time_s);
      keep_best([](const Prediction& one) { return -rate(one); });
    }
    search.try_all(base, extents, together);
  }

  /// Also around the nearest aligned shape: alignment may gain only if all extents have it.
  const std::vector<Prediction>& found() {
    Problem aligned = question.problem;
    for (const std::size_t extent : extents) {
      const std::int64_t value = nearest(extent, vector_of(aligned));
      if (value > 0) aligned[extent] = value;
    }
    around(aligned);
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

bool is_product(const KernelRef& kernel) {
  // The catalog holds a copy of kFamily, so the families' addresses differ.
  return kernel.kernel != nullptr &&
         kernel.family->variants.data() == gemm::kFamily.variants.data();
}

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

  const auto told = [&](AdviceKind kind, const Prediction& one) {
    AdvisedShape shape{kind, one, time_s(one) / time_s(asked) - 1, rate(one),
                       rate(one) / rate(asked) - 1};
    if (of_product) shape.product = product_counts(question, one);
    return shape;
  };
  ShapeAdvice advice{told(AdviceKind::asked, asked)};
  const auto add = [&](AdviceKind kind, const Shapes& shapes, const Prediction& base) {
    const AdvisedShape before = told(kind, base);
    for (std::size_t i = 0; i < std::min(kMostShapes, shapes.size()); ++i) {
      AdvisedShape& shape = advice.shapes.emplace_back(told(kind, *shapes[i]));
      shape.why = reason(kernel, before, shape);
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

  ShapeSearch up{from, extents, options.within, true};
  const std::vector<Prediction>& larger = up.found();
  const Shapes padded = improvements(larger, asked, least_change, faster);
  add(AdviceKind::faster, padded, asked);
  if (options.smaller) {
    ShapeSearch down{from, extents, options.within, false};
    const auto better = [&](const Prediction& one, const Prediction& other) {
      return faster(one, other) && saves(rate(other), rate(one));
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
