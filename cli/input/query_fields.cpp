#include "cli/input/query_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

// Whether the parameter takes true and false: its choices are yes and no, or its range is 0 to 1.
bool takes_flag(const Parameter& parameter) {
  if (parameter.is_text) return false;
  if (parameter.choices.empty()) return parameter.minimum == 0 && parameter.maximum == 1;
  const auto has = [&](std::string_view word) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), word) !=
           parameter.choices.end();
  };
  return has("yes") && has("no");
}

void set_value(const QueryField& field, const Parameter& parameter, Problem& problem,
               std::size_t position) {
  const bool flag = field.kind == QueryField::Kind::flag && takes_flag(parameter);
  if (!is_named(parameter)) {
    if (field.kind != QueryField::Kind::whole && !flag) {
      throw InputError(fmt::format("'{}' takes a whole number", field.key));
    }
    problem[position] = field.whole;
    return;
  }
  if (field.kind != QueryField::Kind::text && !flag) {
    throw InputError(fmt::format("'{}' takes a string: {}", field.key, allowed_text(parameter)));
  }
  const std::string_view yes_or_no = field.whole != 0 ? "yes" : "no";
  set_named_value(parameter, problem, position, flag ? yes_or_no : field.text);
}

double real_of(const QueryField& field, std::string_view quantity) {
  if (field.kind == QueryField::Kind::text || field.kind == QueryField::Kind::flag) {
    throw InputError(fmt::format("'{}' takes {}", field.key, quantity));
  }
  return field.real;
}

}  // namespace

bool read_parameter(const QueryField& field, std::span<const Parameter> parameters,
                    Problem& problem, unsigned& given) {
  const auto position = position_named(parameters, field.key);
  if (!position) return false;
  set_value(field, parameters[*position], problem, *position);
  given |= 1U << *position;
  return true;
}

bool read_assumption(const QueryField& field, Assumptions& assumptions) {
  if (field.key == "cache") {
    assumptions.cache = parse_cache(text_of(field));
    return true;
  }
  if (field.key == "launch") {
    assumptions.launch = parse_launch(text_of(field));
    return true;
  }
  if (field.key == "set") {
    throw InputError(R"('set' takes an object of values of the specification: {"sm_count": 144})");
  }
  if (field.key == "sm_clock_hz") {
    assumptions.sm_clock_hz = expect_clock("'sm_clock_hz'", real_of(field, "a frequency in Hz"));
    return true;
  }
  if (field.key == "worked_s") {
    assumptions.worked_s = expect_worked("'worked_s'", real_of(field, "seconds"));
    return true;
  }
  return false;
}

std::vector<specs::Override> overrides_of(const QueryFields& set) {
  std::vector<specs::Override> overrides;
  for (const QueryField& field : set) {
    specs::Override one{field.key, fmt::to_string(field.whole)};
    if (field.kind == QueryField::Kind::real) one.value = fmt::to_string(field.real);
    if (field.kind == QueryField::Kind::flag) one.value = field.whole != 0 ? "true" : "false";
    if (field.kind == QueryField::Kind::text) one.value = nlohmann::json(field.text).dump();
    overrides.push_back(std::move(one));
  }
  return overrides;
}

void refuse_unknown(const KernelRef& kernel, const std::string& key) {
  std::vector<std::string_view> known = {"kernel", "gpu",         "dtype",    "cache",
                                         "launch", "sm_clock_hz", "worked_s", "set"};
  for (const Parameter& parameter : kernel.parameters()) known.push_back(parameter.name);
  throw InputError(
      fmt::format("{} has no parameter '{}'.{}", kernel.name(), key, did_you_mean(key, known)));
}

}  // namespace roofcast::cli
