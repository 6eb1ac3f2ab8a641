#include <bit>

#include "model/shape_search.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kAlwaysAligned = 8;
constexpr std::int64_t kWidestMultiple = 256;
constexpr std::size_t kTogether = 3;  // values of an extent that are tried with those of others

// The largest power of two up to kWidestMultiple that divides the extent.
std::int64_t alignment(std::int64_t extent) {
  const auto bits = std::countr_zero(static_cast<std::uint64_t>(extent));
  return std::min(kWidestMultiple, std::int64_t{1} << std::min(bits, 62));
}

Values values_near(const Parameter& parameter, std::int64_t asked, double within, bool up) {
  Values found;
  for (std::int64_t multiple = 2; multiple <= kWidestMultiple; multiple *= 2) {
    const std::int64_t value = (up ? ceil_div(asked, multiple) : asked / multiple) * multiple;
    const bool in_reach = multiple <= kAlwaysAligned ||
                          std::abs(as_double(value - asked)) <= within * as_double(asked);
    if (!in_reach || value == asked || value < std::max<std::int64_t>(1, parameter.minimum) ||
        value > parameter.maximum) {
      continue;
    }
    if (found.empty() || found.back() != value) found.push_back(value);
  }
  return found;
}

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
  require(asked.time.has_value(), question.gpu.name,
          " has no expected time: shapes cannot be compared");
  const std::vector<std::size_t> varied = options.varied.value_or(extents_of(kernel));
  const Question chosen = question.with(asked.problem);
  std::vector<ShapeAdvice> advice;
  const auto add = [&](AdviceKind kind) {
    const bool up = kind == AdviceKind::faster;
    NearbySearch search(chosen);
    search.around(
        asked.problem, varied,
        [&](std::size_t extent) {
          return values_near(kernel.parameters()[extent], asked.problem[extent], options.within,
                             up);
        },
        [&](Shapes& shapes, std::size_t extent, Values& kept) {
          std::erase_if(shapes,
                        [&](const auto* one) { return useful_rate(*one) <= useful_rate(asked); });
          keep_first(
              kTogether, shapes, [](const Prediction& one) { return -useful_rate(one); }, extent,
              kept);
        });
    Shapes taken =
        improvements(search.found(), asked, varied, [&](const auto& one, const auto& other) {
          return saves(time_s(one), time_s(other)) &&
                 (up || saves(useful_rate(other), useful_rate(one)));
        });
    if (taken.size() > kMostShapes) taken.resize(kMostShapes);
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
