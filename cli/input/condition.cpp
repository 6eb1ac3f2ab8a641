#include "cli/input/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/input/options.hpp"

namespace roofcast::cli {
namespace {

constexpr std::array kRates = {Unit{"PFLOP/s", 1e15}, Unit{"TFLOP/s", 1e12}, Unit{"GFLOP/s", 1e9},
                               Unit{"FLOP/s", 1}};
constexpr std::array kBandwidths = {Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6},
                                    Unit{"B/s", 1}};
constexpr std::array kShares = {Unit{"%", 0.01}, Unit{"", 1}};

const Forecast& forecast_of(const Prediction& prediction) {
  if (prediction.time) return *prediction.time;
  throw InputError(
      "a family alone has a limit and no expected time: ask with --until 'limit<=…', or name a "
      "variant (`roofcast kernels FAMILY` lists them)");
}

double time_of(const Prediction& prediction) {
  return forecast_of(prediction).expected_s;
}

/// What a condition may be about; the bound has neither units nor a value.
struct Quantity {
  std::string_view name;
  std::span<const Unit> units;
  double (*value)(const Prediction&);
};
constexpr std::array kQuantities = {
    Quantity{"time", kTimeUnits, time_of},
    Quantity{"limit", kTimeUnits, [](const Prediction& p) { return p.limit.time_s; }},
    Quantity{"fraction_of_limit", kShares,
             [](const Prediction& p) { return p.limit.time_s / time_of(p); }},
    Quantity{"rate", kRates, [](const Prediction& p) { return p.useful_flops / time_of(p); }},
    Quantity{"bandwidth", kBandwidths,
             [](const Prediction& p) { return p.work.dram.total_bytes() / time_of(p); }},
    Quantity{"bound", {}, nullptr}};

const Quantity& quantity_named(std::string_view text) {
  std::array<std::string_view, kQuantities.size()> names;
  std::transform(kQuantities.begin(), kQuantities.end(), names.begin(),
                 [](const Quantity& one) { return one.name; });
  return kQuantities.at(place_of("--until", text, names));
}

Resource parse_resource(std::string_view text) {
  std::array<std::string_view, kResources> names;
  for (std::size_t i = 0; i < kResources; ++i) names[i] = name(static_cast<Resource>(i));
  return static_cast<Resource>(place_of("the bound of --until", text, names));
}

}  // namespace

double parse_quantity(std::string_view text, std::span<const Unit> units) {
  const auto number = number_with_unit(text, units);
  if (number && *number > 0) return *number;
  std::string names;
  for (const Unit& unit : units) {
    if (!unit.name.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
  }
  throw UsageError("--until: '{}' is no positive number with its unit ({})", text, names);
}

Condition parse_condition(std::string_view text) {
  constexpr std::array<std::string_view, 4> kSigns = {"!=", "<=", ">=", "="};
  const std::size_t at = text.find_first_of("!<>=");
  const std::string_view rest = at < text.size() ? text.substr(at) : std::string_view();
  const auto* sign = std::find_if(kSigns.begin(), kSigns.end(),
                                  [&](std::string_view one) { return rest.starts_with(one); });
  if (sign == kSigns.end()) {
    throw UsageError(
        "--until takes a condition in quotation marks, as 'time<=50us', 'limit<=50us', "
        "'rate>=500TFLOP/s', 'bandwidth>=2TB/s', 'fraction_of_limit>=0.9', 'bound=dram' or "
        "'bound!=dram'; found '{}'",
        text);
  }
  const Quantity& quantity = quantity_named(text.substr(0, at));
  Condition condition{.text = std::string(text), .value = quantity.value};
  const bool is_bound = condition.value == nullptr;
  const bool ordered = *sign == "<=" || *sign == ">=";
  if (is_bound == ordered) {
    throw UsageError("--until: {} takes {}", quantity.name, is_bound ? "= or !=" : "<= or >=");
  }
  const std::string_view value = rest.substr(sign->size());
  condition.at_least = *sign == ">=";
  condition.negated = *sign == "!=";
  if (is_bound) {
    condition.resource = parse_resource(value);
  } else {
    condition.number = parse_quantity(value, quantity.units);
  }
  return condition;
}

bool holds(const Condition& condition, const Prediction& prediction) {
  if (condition.value == nullptr) {
    const bool binds = binding(forecast_of(prediction).terms) == condition.resource;
    return binds != condition.negated;
  }
  const double value = condition.value(prediction);
  return condition.at_least ? value >= condition.number : value <= condition.number;
}

}  // namespace roofcast::cli
