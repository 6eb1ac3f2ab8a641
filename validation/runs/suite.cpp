#include "validation/runs/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/problem_json.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

/// Of one parameter: its number, the position of its choice, or its text.
struct Value {
  std::int64_t number = 0;
  Text text;
};
using Values = std::vector<Value>;

constexpr int kDeepestInclude = 8;
constexpr std::size_t kMostValues = 10'000;

/// One text or a list of texts.
std::vector<JsonNode> one_or_many(const JsonNode& node) {
  return node.value().is_array() ? node.items() : std::vector{node};
}

Value value_of(const Parameter& parameter, const JsonNode& node) {
  Problem problem;
  value_from_json(parameter, node, problem, 0);
  return {problem[0], problem.text};
}

/// 5, [5, 7], {"from": 1, "to": 64, "times": 2} or {"from": 0, "to": 64, "plus": 8}; of a parameter
/// that is given by name "forward" or ["forward", "backward"].
Values values_from_json(const Parameter& parameter, const JsonNode& node) {
  Values values;
  if (is_named(parameter) || !node.value().is_object()) {
    for (const JsonNode& item : one_or_many(node)) values.push_back(value_of(parameter, item));
    return values;
  }
  node.allow_only({"from", "to", "times", "plus"});
  const std::int64_t last = node.at("to").integer();
  const auto times = node.find("times");
  const auto plus = node.find("plus");
  if (times.has_value() == plus.has_value()) {
    node.refuse("either \"times\" or \"plus\"", "give one of the two");
  }
  const std::int64_t step = times ? times->integer() : plus->integer();
  if (step < (times ? 2 : 1)) (times ? *times : *plus).refuse("a step upwards", "raise it");
  const JsonNode from = node.at("from");
  if (times && from.integer() < 1) from.refuse("at least 1", "start a geometric range above 0");
  for (std::int64_t value = from.integer(); value <= last;) {
    values.push_back({value, {}});
    if (values.size() > kMostValues) node.refuse("at most 10000 values", "widen the step");
    if (times && value > last / step) break;
    value = times ? value * step : value + step;
  }
  if (values.empty()) node.refuse("\"from\" at most \"to\"", "exchange them");
  return values;
}

/// One group of a suite for one kernel and type: parameter assignments, expanded parameter by
/// parameter. "=m" follows another parameter.
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
      const std::size_t i = position(key, node);
      const Parameter& parameter = kernel_.parameters()[i];
      const std::string text = node.value().is_string() && !is_named(parameter) ? node.text() : "";
      if (text.starts_with('=')) {
        follow_[i] = position(text.substr(1), node);
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
          wider.back()[i] = value.number;
          if (kernel_.parameters()[i].is_text) wider.back().text = value.text;
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

  std::size_t position(std::string_view name, const JsonNode& where) const {
    std::size_t i = 0;
    for (const Parameter& parameter : kernel_.parameters()) {
      if (parameter.name == name) return i;
      ++i;
    }
    where.refuse(fmt::format("a parameter of {}", kernel_.kernel->name),
                 fmt::format("remove \"{}\" or move it to a group whose kernels take it", name));
  }

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
    if (!out.back()) item.refuse("\"cold\" or \"steady\"", "or leave \"cache\" out");
  }
  return out;
}

void expand_group(const JsonNode& group, std::vector<SuiteCase>& cases) {
  for (const JsonNode& kernel_node : one_or_many(group.at("kernel"))) {
    const KernelRef kernel = kernel_from_json(kernel_node);
    std::vector<Expansion> expansions;
    if (const auto together = group.find("together")) {
      for (const JsonNode& shape : together->items()) {
        shape.expect_object();
        expansions.emplace_back(kernel, group).assign(group);
        expansions.back().assign(shape);
      }
    } else {
      expansions.emplace_back(kernel, group).assign(group);
    }
    for (const JsonNode& dtype : one_or_many(group.at("dtype"))) {
      for (const Expansion& expansion : expansions) {
        for (const Problem& problem : expansion.problems(dtype_from_json(dtype))) {
          for (const auto& cache : caches_from_json(group)) {
            SuiteCase item{std::string(kernel.kernel->name), problem, cache};
            if (std::find(cases.begin(), cases.end(), item) == cases.end()) {
              cases.push_back(std::move(item));
            }
          }
        }
      }
    }
  }
}

const EmbeddedSuite* find_embedded_suite(std::string_view name) {
  const auto suites = embedded_suites();
  const auto found = std::find_if(suites.begin(), suites.end(),
                                  [&](const EmbeddedSuite& suite) { return suite.name == name; });
  return found == suites.end() ? nullptr : &*found;
}

std::string suite_names() {
  std::string names;
  for (const EmbeddedSuite& suite : embedded_suites()) {
    names += names.empty() ? "" : ", ";
    names += suite.name;
  }
  return names;
}

Suite parse(const std::string& file, const std::string& text, int depth) {
  const nlohmann::json document =
      parse_json(file, text, "see validation/sweeps/README.md for the grammar");
  const JsonNode root(file, document);
  root.allow_only({"suite", "description", "include", "groups"});
  Suite suite;
  suite.name = root.at("suite").text();
  if (const auto node = root.find("description")) suite.description = node->text();
  if (const auto include = root.find("include")) {
    for (const JsonNode& node : include->items()) {
      const EmbeddedSuite* other = find_embedded_suite(node.text());
      if (other == nullptr) node.refuse("a suite of the program", "name one of " + suite_names());
      if (depth == kDeepestInclude) node.refuse("an end of the inclusions", "break the cycle");
      const Suite included =
          parse(std::string(other->name) + ".json", std::string(other->text), depth + 1);
      for (const SuiteCase& item : included.cases) {
        if (std::find(suite.cases.begin(), suite.cases.end(), item) == suite.cases.end()) {
          suite.cases.push_back(item);
        }
      }
    }
  }
  if (const auto groups = root.find("groups")) {
    for (const JsonNode& group : groups->items()) expand_group(group, suite.cases);
  }
  if (suite.cases.empty()) root.refuse("at least one case", "add \"groups\" or \"include\"");
  return suite;
}

}  // namespace

Suite parse_suite(const std::string& file, const std::string& text) {
  return parse(file, text, 0);
}

Suite find_suite(std::string_view name) {
  const EmbeddedSuite* found = find_embedded_suite(name);
  if (found == nullptr) {
    throw InputError(fmt::format("there is no suite \"{}\". Mend: name one of {}, or a file.", name,
                                 suite_names()));
  }
  return parse(std::string(found->name) + ".json", std::string(found->text), 0);
}

}  // namespace roofcast::validation
