#include "model/product_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "model/kernels/gemm/alignment.hpp"
#include "model/laws/feasibility.hpp"
#include "model/laws/occupancy.hpp"

namespace roofcast {
namespace {

gemm::RowLengths row_lengths_of(const KernelRef& kernel, const Problem& p) {
  return gemm::row_lengths(p, value_named(kernel, p, "layout").value_or(gemm::kNN));
}

class Search {
 public:
  Search(const Question& question, const AdviceOptions& options, bool up)
      : question_(question),
        kernel_(question.kernel),
        asked_(question.problem),
        options_(options),
        up_(up) {}

  /// One extent at a time, from the asked shape and from the one whose rows are aligned next to it;
  /// then the best few values of each with those of the others.
  std::vector<ProductForecast> run() {
    tried_.insert(asked_.values);
    Problem aligned = asked_;
    for (const std::size_t extent : kProductExtents) {
      if (varies(extent) && is_row(extent)) aligned[extent] = aligned_extent(extent);
    }
    if (std::all_of(kProductExtents.begin(), kProductExtents.end(),
                    [&](std::size_t extent) { return aligned[extent] > 0; })) {
      around(aligned);
    }
    if (aligned != asked_) around(asked_);
    return std::move(found_);
  }

 private:
  bool varies(std::size_t extent) const {
    const auto& varied = options_.varied;
    return !varied || std::find(varied->begin(), varied->end(), extent) != varied->end();
  }

  // Whether elements along the extent lie next to each other in one of the matrices.
  bool is_row(std::size_t extent) const {
    const auto layout = value_named(kernel_, asked_, "layout").value_or(gemm::kNN);
    if (extent == gemm::kM) return gemm::transposes_a(layout);
    return extent == gemm::kN || layout != gemm::kTN;
  }
  std::int64_t vector() const { return gemm::kVectorBytes / element_bytes(asked_.dtype); }
  std::int64_t aligned_extent(std::size_t extent) const {
    return (up_ ? ceil_div(asked_[extent], vector()) : asked_[extent] / vector()) * vector();
  }

  // Alignment is in reach however small the extent is.
  bool in_reach(std::size_t extent, std::int64_t value) const {
    const double asked = as_double(asked_[extent]);
    if (value < 1 || value > kernel_.parameters()[extent].maximum) return false;
    if (up_ ? value < asked_[extent] : value > asked_[extent]) return false;
    return (is_row(extent) && value == aligned_extent(extent)) ||
           std::abs(as_double(value) - asked) <= options_.within * asked;
  }

  std::vector<std::int64_t> widths(std::size_t extent, const Problem& base) const {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 1; i <= 16; i *= 2) found.push_back(i * vector());
    if (extent == gemm::kK) return found;
    const std::string_view side = extent == gemm::kM ? "tile_m" : "tile_n";
    std::vector<Problem> configured = {base};
    if (kernel_.kernel->candidates != nullptr) {
      configured = kernel_.kernel->candidates(base, question_.gpu);
    }
    for (const Problem& one : configured) {
      const auto width = value_named(kernel_, one, side);
      if (width && std::find(found.begin(), found.end(), *width) == found.end()) {
        found.push_back(*width);
      }
    }
    return found;
  }

  // Of each width the nearest multiples in reach.
  std::set<std::int64_t> values_near(std::size_t extent, const Problem& base) const {
    constexpr std::int64_t kEach = 8;
    std::set<std::int64_t> values = {base[extent]};
    for (const std::int64_t width : widths(extent, base)) {
      const std::int64_t first = up_ ? ceil_div(asked_[extent], width) : asked_[extent] / width;
      for (std::int64_t i = 0; i < kEach; ++i) {
        const std::int64_t value = (first + (up_ ? i : -i)) * width;
        if (!in_reach(extent, value)) break;
        values.insert(value);
      }
    }
    return values;
  }

  void around(const Problem& base) {
    std::array<std::vector<std::int64_t>, kProductExtents.size()> kept;
    for (std::size_t i = 0; i < kProductExtents.size(); ++i) {
      kept[i] = {base[kProductExtents[i]]};
      if (!varies(kProductExtents[i])) continue;
      const std::size_t first = found_.size();
      for (const std::int64_t value : values_near(kProductExtents[i], base)) {
        Problem near = base;
        near[kProductExtents[i]] = value;
        visit(near);
      }
      keep_best(first, i, kept[i]);
    }
    for_each_combination(base, kProductExtents, kept, [&](const Problem& near) { visit(near); });
  }

  // Of the shapes found from `first` on, the extents of those with the least time and with the
  // highest rate.
  void keep_best(std::size_t first, std::size_t extent, std::vector<std::int64_t>& kept) const {
    constexpr std::size_t kEach = 2;
    std::vector<const ProductForecast*> alone;
    for (std::size_t i = first; i < found_.size(); ++i) alone.push_back(&found_[i]);
    const auto keep = [&](const auto& is_better) {
      std::stable_sort(alone.begin(), alone.end(), is_better);
      for (std::size_t i = 0; i < std::min(kEach, alone.size()); ++i) {
        const std::int64_t value = alone[i]->prediction.problem[kProductExtents[extent]];
        if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
      }
    };
    keep([](const auto* a, const auto* b) { return a->time_s() < b->time_s(); });
    keep([](const auto* a, const auto* b) { return a->flops_per_s > b->flops_per_s; });
  }

  void visit(const Problem& problem) {
    if (!tried_.insert(problem.values).second) return;
    try {
      found_.push_back(forecast_product(question_.with(problem)));
    } catch (const InputError&) {
      // The kernel does not take this shape, which is no fault of the one asked for.
    }
  }

  const Question& question_;
  const KernelRef& kernel_;
  const Problem& asked_;
  const AdviceOptions& options_;
  bool up_;
  std::set<std::array<std::int64_t, Problem::kMaxParameters>> tried_;
  std::vector<ProductForecast> found_;
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

}  // namespace

ProductForecast forecast_product(const Question& question) {
  const KernelRef& kernel = question.kernel;
  ProductForecast one;
  one.prediction = question.forecast();
  const Prediction& answer = one.prediction;
  if (!answer.time || !answer.launch || !answer.waves) {
    throw InputError("no expected time on " + question.gpu.name +
                     ": choose a GPU whose SMs and clock are known (`roofcast gpus`)");
  }
  const Problem& p = answer.problem;
  one.flops_per_s = answer.work.flops() / one.time_s();
  count_blocks(one, kernel, question.gpu);
  one.vector_bytes =
      gemm::narrowest_vector(row_lengths_of(kernel, p), p.dtype) * element_bytes(p.dtype);
  const auto tile_m = value_named(kernel, p, "tile_m"), tile_n = value_named(kernel, p, "tile_n");
  if (tile_m && tile_n) {
    one.tile_fill = as_double(p[gemm::kM]) / as_double(ceil_div(p[gemm::kM], *tile_m) * *tile_m) *
                    (as_double(p[gemm::kN]) / as_double(ceil_div(p[gemm::kN], *tile_n) * *tile_n));
  }
  return one;
}

std::optional<std::int64_t> value_named(const KernelRef& kernel, const Problem& problem,
                                        std::string_view parameter) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter) return problem[i];
  }
  return std::nullopt;
}

std::vector<ProductForecast> products_near(const Question& asked, const AdviceOptions& options,
                                           bool larger) {
  return Search(asked, options, larger).run();
}

}  // namespace roofcast
