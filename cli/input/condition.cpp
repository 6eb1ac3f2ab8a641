#include "cli/input/condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/input/options.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

constexpr std::array<std::string_view, 6> kQuantities = {"time", "limit",     "fraction_of_limit",
                                                         "rate", "bandwidth", "bound"};

constexpr std::array kRates = {Unit{"PFLOP/s", 1e15}, Unit{"TFLOP/s", 1e12}, Unit{"GFLOP/s", 1e9},
                               Unit{"FLOP/s", 1}};
constexpr std::array kBandwidths = {Unit{"TB/s", 1e12}, Unit{"GB/s", 1e9}, Unit{"MB/s", 1e6},
                                    Unit{"B/s", 1}};
constexpr std::array kShares = {Unit{"%", 0.01}, Unit{"", 1}};

std::span<const Unit> units_of(Condition::Quantity quantity) {
  switch (quantity) {
    case Condition::Quantity::rate:
      return kRates;
    case Condition::Quantity::bandwidth:
      return kBandwidths;
    case Condition::Quantity::fraction_of_limit:
      return kShares;
    default:
      return kTimeUnits;
  }
}

}  // namespace

double parse_quantity(std::string_view text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    const auto number =
        validation::number_of<double>(text.substr(0, text.size() - unit.name.size()));
    if (number && *number > 0) return *number * unit.factor;
  }
  std::string names;
  for (const Unit& unit : units) {
    if (!unit.name.empty()) names += fmt::format("{}{}", names.empty() ? "" : ", ", unit.name);
  }
  throw UsageError(
      fmt::format("--until: '{}' is no positive number with its unit ({})", text, names));
}

namespace {

Resource parse_resource(std::string_view text) {
  std::array<std::string_view, kResources> names;
  for (std::size_t i = 0; i < kResources; ++i) names[i] = name(static_cast<Resource>(i));
  const std::string_view found = one_of("the bound of --until", text, names);
  const auto position = std::find(names.begin(), names.end(), found) - names.begin();
  return static_cast<Resource>(position);
}

const Forecast& forecast_of(const Prediction& prediction) {
  if (prediction.time) return *prediction.time;
  throw InputError(
      "a family alone has a limit and no expected time: ask with --until 'limit<=…', or name a "
      "variant (`roofcast kernels FAMILY` lists them)");
}

double value_of(Condition::Quantity quantity, const Prediction& prediction) {
  if (quantity == Condition::Quantity::limit) return prediction.limit.time_s;
  const double time_s = forecast_of(prediction).expected_s;
  if (quantity == Condition::Quantity::rate) return prediction.useful_flops / time_s;
  if (quantity == Condition::Quantity::bandwidth)
    return prediction.work.dram.total_bytes() / time_s;
  if (quantity == Condition::Quantity::fraction_of_limit) return prediction.limit.time_s / time_s;
  return time_s;
}

}  // namespace

Condition parse_condition(std::string_view text) {
  constexpr std::array<std::string_view, 4> kSigns = {"!=", "<=", ">=", "="};
  const std::size_t at = text.find_first_of("!<>=");
  const std::string_view rest = at < text.size() ? text.substr(at) : std::string_view();
  const auto* sign = std::find_if(kSigns.begin(), kSigns.end(),
                                  [&](std::string_view one) { return rest.starts_with(one); });
  if (sign == kSigns.end()) {
    throw UsageError(fmt::format(
        "--until takes a condition in quotation marks, as 'time<=50us', 'limit<=50us', "
        "'rate>=500TFLOP/s', 'bandwidth>=2TB/s', 'fraction_of_limit>=0.9', 'bound=dram' or "
        "'bound!=dram'; found '{}'",
        text));
  }
  const std::size_t place = place_of("--until", text.substr(0, at), kQuantities);
  Condition condition;
  condition.text = text;
  condition.quantity = static_cast<Condition::Quantity>(place);
  const bool is_bound = condition.quantity == Condition::Quantity::bound;
  const bool ordered = *sign == "<=" || *sign == ">=";
  if (is_bound == ordered) {
    throw UsageError(fmt::format("--until: {} takes {}", kQuantities.at(place),
                                 is_bound ? "= or !=" : "<= or >="));
  }
  const std::string_view value = rest.substr(sign->size());
  condition.at_least = *sign == ">=";
  condition.negated = *sign == "!=";
  if (is_bound) {
    condition.resource = parse_resource(value);
  } else {
    condition.number = parse_quantity(value, units_of(condition.quantity));
  }
  return condition;
}

bool holds(const Condition& condition, const Prediction& prediction) {
  if (condition.quantity == Condition::Quantity::bound) {
    const bool binds = binding(forecast_of(prediction).terms) == condition.resource;
    return binds != condition.negated;
  }
  const double value = value_of(condition.quantity, prediction);
  return condition.at_least ? value >= condition.number : value <= condition.number;
}

}  // namespace roofcast::cli
