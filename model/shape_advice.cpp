#include "model/shape_advice.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kAlwaysAligned = 8;
constexpr std::int64_t kWidestMultiple = 256;
constexpr std::size_t kTogether = 3;  // values of an extent that are tried with those of others

double time_s(const Prediction& prediction) {
  return prediction.time->expected_s;
}

// The largest power of two up to kWidestMultiple that divides the extent.
std::int64_t alignment(std::int64_t extent) {
  const auto bits = std::countr_zero(static_cast<std::uint64_t>(extent));
  return std::min(kWidestMultiple, std::int64_t{1} << std::min(bits, 62));
}

class ShapeSearch {
 public:
  ShapeSearch(const Question& question, const Prediction& asked, double within,
              std::span<const std::size_t> varied, bool up)
      : question_(question), asked_(asked), within_(within), varied_(varied), up_(up) {}

  std::vector<Prediction> run() {
    tried_.insert(asked_.problem.values);
    std::vector<std::vector<std::int64_t>> best;
    for (const std::size_t extent : varied_) {
      const std::size_t before = found_.size();
      for (const std::int64_t value : values(extent)) {
        Problem problem = asked_.problem;
        problem[extent] = value;
        try_one(problem);
      }
      best.push_back(best_values(extent, before));
    }
    for_each_combination(asked_.problem, varied_, best,
                         [&](const Problem& problem) { try_one(problem); });
    return std::move(found_);
  }

 private:
  bool in_reach(std::int64_t value, std::int64_t asked, std::int64_t multiple) const {
    return multiple <= kAlwaysAligned ||
           std::abs(as_double(value - asked)) <= within_ * as_double(asked);
  }

  std::vector<std::int64_t> values(std::size_t extent) const {
    const Parameter& parameter = question_.kernel.parameters()[extent];
    const std::int64_t asked = asked_.problem[extent];
    std::vector<std::int64_t> found;
    for (std::int64_t multiple = 2; multiple <= kWidestMultiple; multiple *= 2) {
      const std::int64_t value = (up_ ? ceil_div(asked, multiple) : asked / multiple) * multiple;
      if (value == asked || value < std::max<std::int64_t>(1, parameter.minimum)) continue;
      if (value > parameter.maximum || !in_reach(value, asked, multiple)) continue;
      if (found.empty() || found.back() != value) found.push_back(value);
    }
    return found;
  }

  void try_one(const Problem& problem) {
    if (!tried_.insert(problem.values).second) return;
    try {
      Prediction prediction = question_.with(problem).forecast();
      if (prediction.time) found_.push_back(std::move(prediction));
    } catch (const InputError&) {  // the kernel does not take the shape
    }
  }

  // Of those just found, the values that do better, the best few, and the one asked for.
  std::vector<std::int64_t> best_values(std::size_t extent, std::size_t from) const {
    std::vector<const Prediction*> order;
    for (std::size_t i = from; i < found_.size(); ++i) {
      if (useful_rate(found_[i]) > useful_rate(asked_)) order.push_back(&found_[i]);
    }
    std::sort(order.begin(), order.end(),
              [](const auto* a, const auto* b) { return useful_rate(*a) > useful_rate(*b); });
    std::vector<std::int64_t> best = {asked_.problem[extent]};
    for (std::size_t i = 0; i < std::min(kTogether, order.size()); ++i) {
      best.push_back(order[i]->problem[extent]);
    }
    return best;
  }

  const Question& question_;
  const Prediction& asked_;
  double within_;
  std::span<const std::size_t> varied_;
  bool up_;
  std::set<std::array<std::int64_t, Problem::kMaxParameters>> tried_;
  std::vector<Prediction> found_;
};

std::string reason(const KernelRef& kernel, const Prediction& from, const Prediction& to,
                   std::span<const std::size_t> varied) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const std::size_t extent : varied) {
    const std::int64_t before = alignment(from.problem[extent]);
    const std::int64_t after = alignment(to.problem[extent]);
    if (after <= before) continue;
    add(std::string(kernel.parameters()[extent].name) + " a multiple of " + std::to_string(after));
  }
  if (from.waves && to.waves && std::ceil(to.waves->count) < std::ceil(from.waves->count)) {
    add(figure_text(std::ceil(to.waves->count)) + " waves, not " +
        figure_text(std::ceil(from.waves->count)));
  }
  const double before = from.work.dram.total_bytes(), after = to.work.dram.total_bytes();
  if (saves(after, before)) add("DRAM bytes " + signed_percent(after / before - 1));
  const Resource was = from.time->terms.binding().resource;
  const Resource is = to.time->terms.binding().resource;
  if (was != is) add("bound by " + std::string(name(is)) + ", not " + std::string(name(was)));
  return text.empty() ? "the same bound" : text;
}

}  // namespace

double useful_rate(const Prediction& prediction) {
  const double useful = prediction.useful_flops > 0 ? prediction.useful_flops
                                                    : prediction.work.compulsory.total_bytes();
  return useful / time_s(prediction);
}

std::vector<std::size_t> extents_of(const KernelRef& kernel) {
  std::vector<std::size_t> found;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& one = parameters[i];
    if (!one.configures && !one.is_text && one.choices.empty()) found.push_back(i);
  }
  return found;
}

std::vector<ShapeAdvice> advise_shapes(const Question& question, const AdviceOptions& options) {
  const KernelRef& kernel = question.kernel;
  const Prediction asked = question.forecast();
  if (!asked.time) {
    throw InputError(question.gpu.name + " has no expected time: shapes cannot be compared");
  }
  const std::vector<std::size_t> varied = options.varied.value_or(extents_of(kernel));
  const auto volume = [&](const Prediction& one) {
    double product = 1;
    for (const std::size_t extent : varied) product *= as_double(one.problem[extent]);
    return product;
  };
  std::vector<ShapeAdvice> advice;
  const auto add = [&](AdviceKind kind) {
    const bool up = kind == AdviceKind::faster;
    const std::vector<Prediction> shapes =
        ShapeSearch(question, asked, options.within, varied, up).run();
    auto taken = improvements(shapes, asked, volume, time_s,
                              [&](const Prediction& one, const Prediction& other) {
                                return saves(time_s(one), time_s(other)) &&
                                       (up || saves(useful_rate(other), useful_rate(one)));
                              });
    if (taken.size() > options.most) taken.resize(options.most);
    for (const Prediction* one : taken) {
      advice.push_back({kind, *one, time_s(*one) / time_s(asked) - 1,
                        useful_rate(*one) / useful_rate(asked) - 1,
                        reason(kernel, asked, *one, varied)});
    }
  };
  add(AdviceKind::faster);
  if (options.smaller) add(AdviceKind::smaller);
  return advice;
}

}  // namespace roofcast
