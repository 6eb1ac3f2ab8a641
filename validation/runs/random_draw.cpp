#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/counting/totals.hpp"
#include "model/predict.hpp"
#include "validation/runs/portable_random.hpp"
#include "validation/runs/problem_text.hpp"
#include "validation/runs/random_suite.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

// Draws of a shape for one kernel, type and cache state; and draws of these three, before drawing
// from a family fails.
constexpr int kMostShapes = 200;
constexpr int kMostKernels = 200;
constexpr std::int64_t kAlignedBytes = 16;

template <class Item>
const Item& one_of(const std::vector<Item>& items, PortableRandom& random) {
  return items[static_cast<std::size_t>(random.below(items.size()))];
}

/// The groups of one family, by kernel.
struct Family {
  std::string name;
  std::map<std::string_view, std::vector<const RandomGroup*>> kernels;

  /// Draws a kernel, each equally likely, and one of its groups. With `breaks` only groups that can
  /// break the alignment; null if there is none.
  const RandomGroup* draw(PortableRandom& random, bool breaks) const {
    std::vector<std::vector<const RandomGroup*>> able;
    for (const auto& [kernel, groups] : kernels) {
      std::vector<const RandomGroup*> fit;
      std::copy_if(groups.begin(), groups.end(), std::back_inserter(fit),
                   [&](const RandomGroup* group) { return !breaks || !group->aligned.empty(); });
      if (!fit.empty()) able.push_back(std::move(fit));
    }
    return able.empty() ? nullptr : one_of(one_of(able, random), random);
  }
};

std::vector<Family> families_of(const RandomSuite& suite) {
  std::vector<Family> out;
  for (const RandomGroup& group : suite.groups) {
    const std::string name = family_of(group.kernel.kernel->name);
    auto found = std::find_if(out.begin(), out.end(),
                              [&name](const Family& family) { return family.name == name; });
    if (found == out.end()) found = out.insert(out.end(), {name, {}});
    found->kernels[group.kernel.kernel->name].push_back(&group);
  }
  return out;
}

std::int64_t elements_of_alignment(DType dtype) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(kAlignedBytes) / size_bytes(dtype)));
}

/// What all draws for one case have in common.
struct Frame {
  const RandomGroup& group;
  DType dtype;
  bool breaks;    ///< the alignment to 16 B
  bool settings;  ///< Parameter::configures: drawn too, else at their fallbacks
};

class Shape {
 public:
  Shape(const Frame& frame, PortableRandom& random) : frame_(frame), random_(random) {
    problem_.dtype = frame.dtype;
    std::size_t i = 0;
    for (const Parameter& parameter : frame.group.kernel.parameters()) {
      problem_[i++] = parameter.fallback.value_or(0);
    }
  }

  Problem draw() {
    if (!frame_.group.together.empty()) put_all(one_of(frame_.group.together, random_));
    put_all(frame_.group.parameters);
    return problem_;
  }

  /// Whether the shape breaks the 16-byte alignment of rows as the frame demands.
  bool fits() const {
    const std::int64_t unit = elements_of_alignment(frame_.dtype);
    const bool broken =
        std::any_of(frame_.group.aligned.begin(), frame_.group.aligned.end(),
                    [&](std::size_t position) { return problem_[position] % unit != 0; });
    return broken == frame_.breaks;
  }

 private:
  void put_all(const std::vector<RandomParameter>& parameters) {
    for (const RandomParameter& one : parameters) {
      const Parameter& parameter = frame_.group.kernel.parameters()[one.position];
      if (parameter.configures && !frame_.settings) continue;
      if (!one.values.empty()) {
        one_of(one.values, random_).put(parameter, one.position, problem_);
      } else {
        problem_[one.position] = number(one);
      }
    }
  }

  std::int64_t number(const RandomParameter& one) {
    const std::int64_t drawn = random_.log_uniform(one.from, one.to);
    std::int64_t step = one.multiple;
    if (one.multiple_of) step = std::lcm(step, problem_[*one.multiple_of]);
    const auto& aligned = frame_.group.aligned;
    if (!frame_.breaks && std::find(aligned.begin(), aligned.end(), one.position) != aligned.end())
      step = std::lcm(step, elements_of_alignment(frame_.dtype));
    return std::max(step, drawn / step * step);
  }

  const Frame& frame_;
  PortableRandom& random_;
  Problem problem_;
};

bool can_be_measured(const KernelRef& kernel, Problem& problem, const Gpu& gpu) {
  double most_bytes = kMostDrawnBytes;
  if (const auto memory = gpu.memory.dram_bytes) {
    most_bytes = std::min(most_bytes, *memory * kMostDrawnShare);
  }
  try {
    check(kernel, problem, ~0U);
    const Prediction forecast = predict(kernel, problem, gpu);
    if (allocated_bytes(kernel.kernel->plan_of(forecast.problem, gpu)) > most_bytes) return false;
    return forecast.time && forecast.time->expected_s <= kLongestDrawn_s;
  } catch (const InputError&) {
    return false;
  }
}

// Identifies a case.
std::string text_of(const SuiteCase& item) {
  return fmt::format("{} {} {}", item.kernel, problem_text(item.kernel, item.problem),
                     name(*item.cache));
}

}  // namespace

Suite draw_suite(const RandomSuite& suite, std::int64_t seed, std::size_t cases, const Gpu& gpu) {
  if (!gpu.occupancy || !gpu.sm_count) {
    throw InputError(fmt::format(
        "suite {}: no expected time is defined for {}, and it says what can be measured. Mend: "
        "name another GPU.",
        suite.name, gpu.name));
  }
  Suite out{suite.name, suite.description, {}, seed};
  std::set<std::string> known;
  const auto drawn = [&](const Family& family, bool breaks,
                         PortableRandom random) -> std::optional<SuiteCase> {
    for (int i = 0; i < kMostKernels; ++i) {
      const RandomGroup* const one = family.draw(random, breaks);
      if (one == nullptr) break;
      const RandomGroup& group = *one;
      const CacheState cache = one_of(group.caches, random);
      const Frame frame = {group, one_of(group.dtypes, random), breaks, random.below(2) == 1};
      for (int j = 0; j < kMostShapes; ++j) {
        Shape shape(frame, random);
        Problem problem = shape.draw();
        if (!shape.fits() || !can_be_measured(group.kernel, problem, gpu)) continue;
        SuiteCase item{std::string(group.kernel.kernel->name), problem, cache,
                       static_cast<std::int64_t>(out.cases.size())};
        if (!known.contains(text_of(item))) return item;
      }
    }
    return {};
  };
  // Leaves out families of which the GPU can run nothing, such as those that need tensor cores.
  std::vector<Family> families;
  for (const Family& family : families_of(suite)) {
    if (drawn(family, false, PortableRandom(static_cast<std::uint64_t>(seed), 0)) ||
        drawn(family, true, PortableRandom(static_cast<std::uint64_t>(seed), 0))) {
      families.push_back(family);
    }
  }
  if (families.empty()) families = families_of(suite);  // the first draw then throws
  for (std::size_t i = 0; i < cases; ++i) {
    const Family& family = families[i % families.size()];
    const bool breaks = i / families.size() % 2 == 1;
    std::optional<SuiteCase> item =
        drawn(family, breaks, PortableRandom(static_cast<std::uint64_t>(seed), i));
    if (!item) {
      throw InputError(fmt::format(
          "suite {}: {} takes no further problem of {}{}. Mend: ask for fewer cases, widen the "
          "ranges, or name another GPU.",
          suite.name, gpu.name, family.name, breaks ? " off 16 bytes" : ""));
    }
    known.insert(text_of(*item));
    out.cases.push_back(*std::move(item));
  }
  return out;
}

}  // namespace roofcast::validation
