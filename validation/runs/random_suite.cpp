#include "validation/runs/random_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hw_specs/checked_json.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/parameter_values.hpp"
#include "validation/runs/problem_json.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {
namespace {

constexpr specs::FileKind kSuite = {std::size_t{1} << 20,
                                    "see validation/sweeps/README.md for the grammar"};
constexpr std::array<std::string_view, 5> kNotParameters = {"kernel", "dtype", "cache", "together",
                                                            "aligned"};

/// {"from": 64, "to": 1048576}, with "multiple_of": 16 or the name of a parameter.
void read_range(const KernelRef& kernel, const JsonNode& node, RandomParameter& out) {
  const Parameter& parameter = kernel.parameters()[out.position];
  node.allow_only({"from", "to", "multiple_of"});
  out.from =
      node.at("from").integer(std::max<std::int64_t>(1, parameter.minimum), parameter.maximum);
  out.to = node.at("to").integer(out.from, parameter.maximum);
  const auto multiple = node.find("multiple_of");
  if (!multiple) return;
  if (!multiple->value().is_string()) {
    out.multiple = multiple->integer(1, out.to);
    return;
  }
  out.multiple_of = parameter_position(kernel, multiple->text(), *multiple);
  if (*out.multiple_of == out.position || is_named(kernel.parameters()[*out.multiple_of])) {
    multiple->refuse("another parameter, whose values are numbers", "name one");
  }
}

std::vector<RandomParameter> parameters_from_json(const KernelRef& kernel, const JsonNode& object) {
  std::vector<RandomParameter> out;
  object.expect_object();
  for (const auto& [key, unused] : object.value().items()) {
    if (std::find(kNotParameters.begin(), kNotParameters.end(), key) != kNotParameters.end()) {
      continue;
    }
    const JsonNode node = object.at(key);
    RandomParameter one;
    one.position = parameter_position(kernel, key, node);
    const Parameter& parameter = kernel.parameters()[one.position];
    const bool is_range = node.value().is_object() && !is_named(parameter) && !node.find("times") &&
                          !node.find("plus");
    if (is_range) {
      read_range(kernel, node, one);
    } else {
      one.values = values_from_json(parameter, node);
      if (one.values.empty()) node.refuse("at least one value", "give one, or leave it out");
    }
    out.push_back(std::move(one));
  }
  std::stable_partition(out.begin(), out.end(),
                        [](const RandomParameter& one) { return !one.multiple_of; });
  return out;
}

std::vector<CacheState> caches_from_json(const JsonNode& group) {
  const auto node = group.find("cache");
  if (!node) return {kMeasuredCacheStates.begin(), kMeasuredCacheStates.end()};
  std::vector<CacheState> out;
  for (const JsonNode& item : one_or_many(*node)) {
    const auto state = parse_cache_state(item.text());
    if (!state) item.refuse(cache_state_names(), "or leave \"cache\" out for all of them");
    out.push_back(*state);
  }
  if (out.empty()) node->refuse(cache_state_names(), "or leave \"cache\" out for all of them");
  return out;
}

// Refuses a group that does not draw every parameter without a fallback.
void expect_all(const RandomGroup& group, const JsonNode& node) {
  std::size_t i = 0;
  for (const Parameter& parameter : group.kernel.parameters()) {
    const auto gives = [&i](const std::vector<RandomParameter>& set) {
      return std::any_of(set.begin(), set.end(),
                         [&i](const RandomParameter& one) { return one.position == i; });
    };
    const bool in_each =
        !group.together.empty() && std::all_of(group.together.begin(), group.together.end(), gives);
    if (!parameter.fallback && !gives(group.parameters) && !in_each) {
      node.refuse(fmt::format("a value of \"{}\" of {}", parameter.name, group.kernel.kernel->name),
                  "give a list, or \"from\" and \"to\"");
    }
    ++i;
  }
}

RandomGroup group_from_json(const KernelRef& kernel, const JsonNode& node) {
  RandomGroup group;
  group.kernel = kernel;
  for (const JsonNode& dtype : one_or_many(node.at("dtype"))) {
    group.dtypes.push_back(dtype_from_json(dtype));
  }
  if (group.dtypes.empty()) node.at("dtype").refuse("at least one type", "name one");
  group.parameters = parameters_from_json(kernel, node);
  if (const auto together = node.find("together")) {
    for (const JsonNode& set : together->items()) {
      group.together.push_back(parameters_from_json(kernel, set));
    }
  }
  if (const auto aligned = node.find("aligned")) {
    for (const JsonNode& name : one_or_many(*aligned)) {
      group.aligned.push_back(parameter_position(kernel, name.text(), name));
    }
  }
  group.caches = caches_from_json(node);
  expect_all(group, node);
  return group;
}

}  // namespace

bool is_random_suite(const std::string& file, const std::string& text) {
  const nlohmann::json document = specs::parse_checked(file, text, kSuite);
  return document.is_object() && document.contains("draw");
}

RandomSuite parse_random_suite(const std::string& file, const std::string& text) {
  const nlohmann::json document = specs::parse_checked(file, text, kSuite);
  const JsonNode root(file, document);
  root.allow_only({"suite", "description", "draw"});
  RandomSuite suite;
  suite.name = root.at("suite").text();
  if (const auto node = root.find("description")) suite.description = node->text();
  for (const JsonNode& group : root.at("draw").items()) {
    for (const JsonNode& kernel : one_or_many(group.at("kernel"))) {
      suite.groups.push_back(group_from_json(kernel_from_json(kernel), group));
    }
  }
  if (suite.groups.empty()) root.at("draw").refuse("at least one group", "add one");
  return suite;
}

}  // namespace roofcast::validation
