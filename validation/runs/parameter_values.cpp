#include "validation/runs/parameter_values.hpp"

#include <fmt/format.h>

#include "model/types/parameter_text.hpp"
#include "validation/runs/problem_json.hpp"

namespace roofcast::validation {
namespace {

constexpr std::size_t kMostValues = 10'000;

Value value_of(const Parameter& parameter, const JsonNode& node) {
  Problem problem;
  value_from_json(parameter, node, problem, 0);
  return {problem[0], problem.text};
}

}  // namespace

std::vector<JsonNode> one_or_many(const JsonNode& node) {
  return node.value().is_array() ? node.items() : std::vector{node};
}

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
    if (times ? __builtin_mul_overflow(value, step, &value)
              : __builtin_add_overflow(value, step, &value)) {
      break;
    }
  }
  if (values.empty()) node.refuse("\"from\" at most \"to\"", "exchange them");
  return values;
}

std::size_t parameter_position(const KernelRef& kernel, std::string_view name,
                               const JsonNode& where) {
  if (const auto position = position_named(kernel.parameters(), name)) return *position;
  where.refuse(fmt::format("a parameter of {}", kernel.kernel->name),
               fmt::format("remove \"{}\" or move it to a group whose kernels take it", name));
}

}  // namespace roofcast::validation
