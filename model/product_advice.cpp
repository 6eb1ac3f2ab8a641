#include "model/product_advice.hpp"

#include "model/kernels/gemm/alignment.hpp"
#include "model/laws/occupancy.hpp"
#include "model/shape_search.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

std::int64_t layout_of(const KernelRef& kernel, const Problem& problem) {
  return value_named(kernel, problem, "layout").value_or(gemm::kNN);
}

struct Tile {
  std::int64_t m, n;
  friend bool operator==(const Tile&, const Tile&) = default;
  std::string text() const { return std::to_string(m) + "x" + std::to_string(n); }
};
std::optional<Tile> tile_of(const KernelRef& kernel, const Problem& problem) {
  const auto m = value_named(kernel, problem, "tile_m"), n = value_named(kernel, problem, "tile_n");
  return m && n ? std::optional(Tile{*m, *n}) : std::nullopt;
}

// The share of whole tiles that an extent fills.
double fill(std::int64_t extent, std::int64_t tile) {
  return as_double(extent) / as_double(ceil_div(extent, tile) * tile);
}

double flops_per_s(const Prediction& one) {
  return one.work.flops() / time_s(one);
}

/// Larger products than the asked one, or smaller ones, no extent changed the other way.
class ProductSearch {
 public:
  ProductSearch(const Question& asked, const AdviceOptions& options, bool up)
      : question_(asked), within_(options.within), up_(up), search_(asked) {
    for (const std::size_t extent : kProductExtents) {
      const auto& varied = options.varied;
      if (!varied || std::find(varied->begin(), varied->end(), extent) != varied->end()) {
        extents_.push_back(extent);
      }
    }
  }

  /// From the shape whose rows are aligned next to the asked one's, and from the asked one.
  const std::vector<Prediction>& found() {
    Problem aligned = asked_;
    for (const std::size_t extent : extents_) {
      if (is_row(extent)) aligned[extent] = aligned_extent(extent);
    }
    if (std::all_of(kProductExtents.begin(), kProductExtents.end(),
                    [&](std::size_t extent) { return aligned[extent] > 0; })) {
      around(aligned);
    }
    if (aligned != asked_) around(asked_);
    return search_.found();
  }

 private:
  // Whether elements along the extent lie next to each other in one of the matrices.
  bool is_row(std::size_t extent) const {
    if (extent == gemm::kM) return gemm::transposes_a(layout_);
    return extent == gemm::kN || layout_ != gemm::kTN;
  }
  std::int64_t vector() const { return gemm::kVectorBytes / element_bytes(asked_.dtype); }
  std::int64_t multiples(std::size_t extent, std::int64_t width) const {
    return up_ ? ceil_div(asked_[extent], width) : asked_[extent] / width;
  }
  std::int64_t aligned_extent(std::size_t extent) const {
    return multiples(extent, vector()) * vector();
  }

  // Alignment is in reach however small the extent is.
  bool in_reach(std::size_t extent, std::int64_t value) const {
    const double asked = as_double(asked_[extent]);
    if (value < 1 || value > question_.kernel.parameters()[extent].maximum) return false;
    return (is_row(extent) && value == aligned_extent(extent)) ||
           std::abs(as_double(value) - asked) <= within_ * asked;
  }

  std::set<std::int64_t> widths(std::size_t extent, const Problem& base) const {
    std::set<std::int64_t> found;
    for (std::int64_t i = 1; i <= 16; i *= 2) found.insert(i * vector());
    if (extent == gemm::kK) return found;
    const KernelRef& kernel = question_.kernel;
    std::vector<Problem> configured = {base};
    if (kernel.kernel->candidates != nullptr) {
      configured = kernel.kernel->candidates(base, question_.gpu);
    }
    for (const Problem& one : configured) {
      const auto width = value_named(kernel, one, extent == gemm::kM ? "tile_m" : "tile_n");
      if (width) found.insert(*width);
    }
    return found;
  }

  // Of each width the nearest multiples in reach.
  std::set<std::int64_t> values_near(std::size_t extent, const Problem& base) const {
    constexpr std::int64_t kEach = 8;
    std::set<std::int64_t> values = {base[extent]};
    for (const std::int64_t width : widths(extent, base)) {
      for (std::int64_t i = 0; i < kEach; ++i) {
        const std::int64_t value = (multiples(extent, width) + (up_ ? i : -i)) * width;
        if (!in_reach(extent, value)) break;
        values.insert(value);
      }
    }
    return values;
  }

  // With the extents of those that take the least time and of those with the highest rate.
  void around(const Problem& base) {
    constexpr std::size_t kEach = 2;
    search_.around(
        base, extents_, [&](std::size_t extent) { return values_near(extent, base); },
        [](Shapes& shapes, std::size_t extent, Values& kept) {
          keep_first(kEach, shapes, time_s, extent, kept);
          keep_first(
              kEach, shapes, [](const Prediction& one) { return -flops_per_s(one); }, extent, kept);
        });
  }

  const Question& question_;
  const Problem& asked_ = question_.problem;
  double within_;
  bool up_;
  std::int64_t layout_ = layout_of(question_.kernel, asked_);
  std::vector<std::size_t> extents_;
  NearbySearch search_;
};

// Of the launch that multiplies: others convert its operands or add its parts.
void count_blocks(ProductForecast& one, const KernelRef& kernel, const Gpu& gpu) {
  const Prediction& answer = one.prediction;
  one.blocks = answer.launch->blocks();
  one.waves = answer.waves->count;
  if (answer.launches == 1) return;
  const LaunchSequence program = kernel.kernel->plan_of(answer.problem, gpu);
  const Plan& plan =
      std::max_element(program.begin(), program.end(), [](const Launched& a, const Launched& b) {
        return a.plan.useful.flops() < b.plan.useful.flops();
      })->plan;
  one.blocks = plan.launch.blocks();
  one.waves = waves(one.blocks, places(plan.launch, checked_occupancy(plan, gpu), gpu)).count;
}

ProductForecast product_of(const Question& question, const Prediction& prediction) {
  const KernelRef& kernel = question.kernel;
  const Problem& p = prediction.problem;
  ProductForecast one{prediction};
  one.flops_per_s = flops_per_s(prediction);
  count_blocks(one, kernel, question.gpu);
  one.vector_bytes = gemm::narrowest_vector(gemm::row_lengths(p, layout_of(kernel, p)), p.dtype) *
                     element_bytes(p.dtype);
  if (const auto tile = tile_of(kernel, p)) {
    one.tile_fill = fill(p[gemm::kM], tile->m) * fill(p[gemm::kN], tile->n);
  }
  return one;
}

std::string waves_text(const ProductForecast& one) {
  const auto waves = static_cast<std::int64_t>(std::ceil(one.waves));
  return std::to_string(waves) + (waves == 1 ? " wave" : " waves");
}

// What differs for the better. How full waves and tiles are compares where the tiles are the same.
std::string reason(const KernelRef& kernel, const ProductForecast& from,
                   const ProductForecast& to) {
  constexpr double kSameFill = 0.005;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (to.vector_bytes > from.vector_bytes) {
    add("rows aligned to " + std::to_string(to.vector_bytes) + " B");
  }
  const auto before = tile_of(kernel, from.prediction.problem);
  const auto after = tile_of(kernel, to.prediction.problem);
  if (before != after) {
    add(waves_text(to) + " of tiles " + after->text() + ", not " + waves_text(from) + " of " +
        before->text());
  } else {
    if (std::ceil(to.waves) < std::ceil(from.waves)) {
      add(waves_text(to) + ", not " + waves_text(from));
    }
    if (to.tile_fill > from.tile_fill + kSameFill) {
      add("tiles " + percent(to.tile_fill) + " full, not " + percent(from.tile_fill));
    }
  }
  if (text.empty()) add(to.blocks == from.blocks ? "the same blocks" : "the same waves");
  return text;
}

bool contains(const Prediction& larger, const Prediction& smaller) {
  return std::all_of(kProductExtents.begin(), kProductExtents.end(), [&](std::size_t extent) {
    return larger.problem[extent] >= smaller.problem[extent];
  });
}

bool is_free(const Prediction& one, const Prediction& base) {
  const double growth = volume(one, kProductExtents) / volume(base, kProductExtents) - 1;
  return growth > 0 && time_s(one) <= time_s(base) * (1 + std::min(kFreeShare * growth, kFreeTime));
}

// Shapes whose growth is free at every step from the base, the largest first, none inside another.
Shapes room(const std::vector<Prediction>& larger, const Prediction& base) {
  Shapes order;
  for (const Prediction& one : larger) {
    if (contains(one, base) && is_free(one, base)) order.push_back(&one);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(volume(*a, kProductExtents), time_s(*a)) <
           std::pair(volume(*b, kProductExtents), time_s(*b));
  });
  Shapes free;
  for (const Prediction* one : order) {
    if (std::all_of(free.begin(), free.end(), [&](const auto* other) {
          return !contains(*one, *other) || is_free(*one, *other);
        })) {
      free.push_back(one);
    }
  }
  Shapes outermost;
  std::reverse(free.begin(), free.end());
  for (const Prediction* one : free) {
    if (std::none_of(outermost.begin(), outermost.end(),
                     [&](const auto* other) { return contains(*other, *one); })) {
      outermost.push_back(one);
    }
  }
  return outermost;
}

double weight_bytes(const KernelRef& kernel, const Problem& p) {
  return as_double(value_named(kernel, p, "batch").value_or(1)) * as_double(p[gemm::kK]) *
         as_double(p[gemm::kN]) * size_bytes(p.dtype);
}

}  // namespace

void require_time(const Prediction& prediction, const Gpu& gpu) {
  require(prediction.time.has_value(), "no expected time on ", gpu.name,
          ": choose a GPU whose SMs and clock are known (`roofcast gpus`)");
}

std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return problem[i];
  }
  return std::nullopt;
}

Advised advise_product(const Question& question, const AdviceOptions& options) {
  const KernelRef& kernel = question.kernel;
  require(kernel.kernel != nullptr && kernel.family == find_kernel("gemm").family,
          "advice is for kernels of gemm, such as gemm.library");
  const Prediction asked = question.forecast();
  require_time(asked, question.gpu);
  Advised advised{product_of(question, asked), {}};
  const auto add = [&](AdviceKind kind, const Shapes& shapes, const Prediction& base) {
    const ProductForecast from = product_of(question, base);
    for (std::size_t i = 0; i < std::min(kMostShapes, shapes.size()); ++i) {
      const ProductForecast one = product_of(question, *shapes[i]);
      advised.shapes.push_back(
          {kind, one, one.time_s() / time_s(asked) - 1,
           one.flops_per_s / advised.asked.flops_per_s - 1,
           weight_bytes(kernel, one.prediction.problem) - weight_bytes(kernel, question.problem),
           reason(kernel, from, one)});
    }
  };
  const auto faster = [](const auto& one, const auto& other) {
    return saves(time_s(one), time_s(other));
  };
  ProductSearch up(question, options, true);
  const std::vector<Prediction>& larger = up.found();
  const Shapes padded = improvements(larger, asked, kProductExtents, faster);
  add(AdviceKind::faster, padded, asked);
  if (options.smaller) {
    ProductSearch down(question, options, false);
    add(AdviceKind::smaller,
        improvements(down.found(), asked, kProductExtents,
                     [&](const auto& one, const auto& other) {
                       return faster(one, other) && saves(flops_per_s(other), flops_per_s(one));
                     }),
        asked);
  }
  const Prediction& base = padded.empty() ? asked : *padded.front();
  add(AdviceKind::room, room(larger, base), base);
  return advised;
}

}  // namespace roofcast
