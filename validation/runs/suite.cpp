#include "validation/runs/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "hw_specs/checked_json.hpp"
#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/parameter_values.hpp"
#include "validation/runs/problem_json.hpp"
#include "validation/runs/problem_text.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

constexpr specs::FileKind kSuite = {std::size_t{1} << 20,
                                    "see validation/sweeps/README.md for the grammar"};

/// The parameter values of a suite's group for one kernel, expanded into all combinations. "=m"
/// copies the value of another parameter.
class Expansion {
 public:
  Expansion(const KernelRef& kernel, const JsonNode& group) : kernel_(kernel), group_(group) {}

  void assign(const JsonNode& object) {
    for (const auto& [key, unused] : object.value().items()) {
      if (std::find(std::begin(kNotParameters), std::end(kNotParameters), key) !=
          std::end(kNotParameters)) {
        continue;
      }
      const JsonNode node = object.at(key);
      const std::size_t i = parameter_position(kernel_, key, node);
      const Parameter& parameter = kernel_.parameters()[i];
      const std::string text = node.value().is_string() && !is_named(parameter) ? node.text() : "";
      if (text.starts_with('=')) {
        follow_[i] = parameter_position(kernel_, text.substr(1), node);
        if (is_named(kernel_.parameters()[follow_[i]])) {
          node.refuse("a parameter whose values are numbers", "follow another one");
        }
        values_.erase(i);
      } else {
        values_.insert_or_assign(i, values_from_json(parameter, node));
        follow_.erase(i);
      }
    }
  }

  /// Number of problems; nothing if that exceeds kMostCases.
  std::optional<std::size_t> size() const {
    std::size_t product = 1;
    for (const auto& [i, values] : values_) {
      if (__builtin_mul_overflow(product, values.size(), &product) || product > kMostCases) {
        return std::nullopt;
      }
    }
    return product;
  }

  std::vector<Problem> problems(DType dtype) const {
    Problem problem;
    problem.dtype = dtype;
    std::vector<Problem> out = {problem};
    unsigned given = 0;
    for (const auto& [i, values] : values_) {
      given |= 1U << i;
      std::vector<Problem> wider;
      for (const Problem& narrow : out) {
        for (const Value& value : values) {
          wider.push_back(narrow);
          value.put(kernel_.parameters()[i], i, wider.back());
        }
      }
      out = std::move(wider);
    }
    for (const auto& [i, source] : follow_) given |= 1U << i;
    for (Problem& item : out) {
      for (const auto& [i, source] : follow_) item[i] = item[source];
      try {
        check(kernel_, item, given);
      } catch (const InputError& error) {
        group_.refuse(fmt::format("problems {} takes", kernel_.kernel->name), error.what());
      }
    }
    return out;
  }

 private:
  static constexpr std::string_view kNotParameters[] = {"kernel", "dtype", "cache", "together"};

  const KernelRef& kernel_;
  const JsonNode& group_;
  std::map<std::size_t, Values> values_;
  std::map<std::size_t, std::size_t> follow_;
};

std::vector<std::optional<CacheState>> caches_from_json(const JsonNode& group) {
  const auto node = group.find("cache");
  if (!node) return {std::nullopt};
  std::vector<std::optional<CacheState>> out;
  for (const JsonNode& item : one_or_many(*node)) {
    out.push_back(parse_cache_state(item.text()));
    if (!out.back()) item.refuse(cache_state_names(), "or leave \"cache\" out");
  }
  return out;
}

/// The cases of a suite while it is read.
class Cases {
 public:
  /// Adds a case unless it is there already; merges one without a cache state with one that names
  /// it.
  void add(SuiteCase item) {
    auto& same =
        places_[fmt::format("{} {}", item.kernel, problem_text(item.kernel, item.problem))];
    for (const std::size_t place : same) {
      std::optional<CacheState>& known = cases_[place].cache;
      if (!known) known = item.cache;
      if (!item.cache || known == item.cache) return;
    }
    same.push_back(cases_.size());
    item.position = static_cast<std::int64_t>(cases_.size());
    cases_.push_back(std::move(item));
  }

  /// Refuses at `node` if `problems` × `times` more cases exceed kMostCases, which counts cases
  /// before duplicates are removed. No problems count as one case, since they take time too.
  void expect(const JsonNode& node, std::optional<std::size_t> problems, std::size_t times) {
    std::size_t more = 0;
    if (!problems || __builtin_mul_overflow(*problems, times, &more) || more > kMostCases ||
        (expected_ += std::max<std::size_t>(more, 1)) > kMostCases) {
      node.refuse(fmt::format("at most {} cases in a suite", kMostCases),
                  "give fewer values, or several suites");
    }
  }

  std::vector<SuiteCase> take() { return std::move(cases_); }

 private:
  std::vector<SuiteCase> cases_;
  std::unordered_map<std::string, std::vector<std::size_t>> places_;  ///< in cases_
  std::size_t expected_ = 0;
};

void expand_group(const JsonNode& group, Cases& cases) {
  const std::vector<JsonNode> dtypes = one_or_many(group.at("dtype"));
  const auto caches = caches_from_json(group);
  for (const JsonNode& kernel_node : one_or_many(group.at("kernel"))) {
    const KernelRef kernel = kernel_from_json(kernel_node);
    std::vector<Expansion> expansions;
    const auto expand = [&](const JsonNode* shape) {
      expansions.emplace_back(kernel, group).assign(group);
      if (shape != nullptr) expansions.back().assign(*shape);
      cases.expect(group, expansions.back().size(), dtypes.size() * caches.size());
    };
    if (const auto together = group.find("together")) {
      for (const JsonNode& shape : together->items()) {
        shape.expect_object();
        expand(&shape);
      }
    } else {
      expand(nullptr);
    }
    for (const JsonNode& dtype : dtypes) {
      for (const Expansion& expansion : expansions) {
        for (const Problem& problem : expansion.problems(dtype_from_json(dtype))) {
          for (const auto& cache : caches) {
            cases.add({std::string(kernel.kernel->name), problem, cache});
          }
        }
      }
    }
  }
}

const EmbeddedSuite* find_embedded(std::string_view name) {
  const auto suites = embedded_suites();
  const auto found = std::find_if(suites.begin(), suites.end(),
                                  [&](const EmbeddedSuite& suite) { return suite.name == name; });
  return found == suites.end() ? nullptr : &*found;
}

std::string suite_names() {
  return listed(embedded_suites(), [](const EmbeddedSuite& suite) { return suite.name; });
}

/// `included` holds the names of the suites included so far: each is read once, so that cycles end.
Suite parse(const std::string& file, std::string_view text, Cases& cases,
            std::set<std::string_view>& included) {
  const nlohmann::json document = specs::parse_checked(file, text, kSuite);
  const JsonNode root(file, document);
  root.allow_only({"suite", "description", "include", "groups"});
  Suite suite;
  suite.name = root.at("suite").text();
  if (const auto node = root.find("description")) suite.description = node->text();
  if (const auto include = root.find("include")) {
    for (const JsonNode& node : include->items()) {
      const EmbeddedSuite* other = find_embedded(node.text());
      if (other == nullptr) node.refuse("a suite of the program", "name one of " + suite_names());
      if (!included.insert(other->name).second) continue;
      parse(std::string(other->name) + ".json", other->text, cases, included);
    }
  }
  if (const auto groups = root.find("groups")) {
    for (const JsonNode& group : groups->items()) expand_group(group, cases);
  }
  return suite;
}

}  // namespace

Suite parse_suite(const std::string& file, const std::string& text) {
  Cases cases;
  std::set<std::string_view> included;
  Suite suite = parse(file, text, cases, included);
  suite.cases = cases.take();
  if (suite.cases.empty()) {
    throw InputError(file + ": the suite has no case. Mend: add \"groups\" or \"include\".");
  }
  return suite;
}

const EmbeddedSuite& embedded_suite(std::string_view name) {
  const EmbeddedSuite* found = find_embedded(name);
  if (found == nullptr) {
    throw InputError(fmt::format("there is no suite \"{}\". Mend: name one of {}, or a file.", name,
                                 suite_names()));
  }
  return *found;
}

Suite find_suite(std::string_view name) {
  const EmbeddedSuite& found = embedded_suite(name);
  return parse_suite(std::string(found.name) + ".json", std::string(found.text));
}

}  // namespace roofcast::validation
