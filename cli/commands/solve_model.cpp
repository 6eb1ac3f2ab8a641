// `roofcast solve model CONFIG`: for which values of a step's or a service's key a condition holds.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "cli/commands/opening.hpp"
#include "cli/input/condition.hpp"
#include "cli/input/device.hpp"
#include "cli/input/service.hpp"
#include "cli/input/sweep_axis.hpp"
#include "cli/input/task.hpp"
#include "cli/output/json_or_text.hpp"
#include "cli/output/serving_output.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/step_output.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kMostValues = 1024;

Manual manual_solve_model() {
  return {
      .examples =
          "  roofcast solve model llama-3.1-70b --decode --batch 64 --context 8192 --gpu h100-sxm5 "
          "--find tp=1,2,4,8 --until 'time_per_token<=20ms'\n"
          "  roofcast solve model qwen3-32b --serve --input-tokens 2048 --output-tokens 256 --tp 2 "
          "--gpu "
          "h100-sxm5 --find concurrency=8:128:*2 --until 'time_to_first_token<=500ms'\n",
      .usage =
          "roofcast solve model CONFIG --train|--prefill|--decode|--serve --find KEY=VALUES "
          "--until CONDITION [options]",
      .about =
          R"(For which values of KEY, a number that `roofcast model` takes, the step or the service
fulfils the condition: each is forecast. What memory does not hold fulfils none. VALUES
as in a sweep: 1,2,4 or 8:128:*2.)",
      .options = with_device_options(
          joined({{{"find", "KEY=VALUES", "the unknown, such as tp=1,2,4,8"},
                   {"until", "CONDITION",
                    "time<=50ms, time_per_token<=20ms, time_to_first_token<=1s, "
                    "tokens_per_s>=1000, mfu>=0.4 or memory<=40GB"},
                   {"gpu", "NAME|PATH", "the device"}},
                  task_options(),
                  service_options(),
                  {{"format", "table|json",
                    "output format (default: as the output's name ends, else table)"},
                   {"output,o", "FILE", "write there instead of standard output"},
                   {"help,h", "", "this text"}}}))};
}

constexpr std::array kRates = {Unit{"token/s", 1}, Unit{"", 1}};
constexpr std::array kShares = {Unit{"%", 0.01}, Unit{"", 1}};
constexpr std::array kBytes = {Unit{"GiB", 1024.0 * 1024 * 1024}, Unit{"GB", 1e9}};

/// A quantity that a condition may bound. A function returns nothing where the step or the service
/// does not have it.
struct Quantity {
  std::string_view name, unit;
  std::span<const Unit> units;
  std::optional<double> (*of_step)(const StepAnswer&);
  std::optional<double> (*of_service)(const ServingAnswer&);
};

std::optional<double> step_s(const StepAnswer& answer) {
  return answer.step->expected_s;
}
std::optional<double> between_s(const ServingAnswer& answer) {
  return answer.serving.between_tokens.expected_s;
}

constexpr std::array kQuantities = {
    Quantity{"time", "s", kTimeUnits, step_s, between_s},
    Quantity{"time_per_token", "s", kTimeUnits,
             [](const StepAnswer& answer) -> std::optional<double> {
               const bool decode = answer.task.phase == transformer::Phase::decode;
               return decode ? answer.step->expected_s : 1 / answer.step->tokens_per_s;
             },
             between_s},
    Quantity{"time_to_first_token", "s", kTimeUnits,
             [](const StepAnswer& answer) -> std::optional<double> {
               if (answer.task.phase != transformer::Phase::prefill) return std::nullopt;
               return answer.step->expected_s;
             },
             [](const ServingAnswer& answer) -> std::optional<double> {
               return answer.serving.to_first_token_s;
             }},
    Quantity{
        "tokens_per_s", "token/s", kRates,
        [](const StepAnswer& answer) -> std::optional<double> { return answer.step->tokens_per_s; },
        [](const ServingAnswer& answer) -> std::optional<double> {
          return answer.serving.tokens_per_s;
        }},
    Quantity{"mfu", "", kShares,
             [](const StepAnswer& answer) -> std::optional<double> { return answer.step->mfu; },
             [](const ServingAnswer&) -> std::optional<double> { return std::nullopt; }},
    Quantity{
        "memory", "B", kBytes,
        [](const StepAnswer& answer) -> std::optional<double> { return answer.memory.total(); },
        [](const ServingAnswer& answer) -> std::optional<double> {
          return answer.serving.memory.total();
        }}};

struct ModelCondition {
  std::string text;
  const Quantity* quantity = nullptr;
  bool at_least = false;
  double number = 0;
  bool holds(double value) const { return at_least ? value >= number : value <= number; }
};

ModelCondition parse_model_condition(const std::string& text) {
  const std::size_t sign = text.find_first_of("<>");
  if (sign == std::string::npos || text.substr(sign + 1, 1) != "=") {
    throw UsageError(
        "--until takes a condition in quotation marks, as 'time_per_token<=20ms'; found '{}'",
        text);
  }
  std::array<std::string_view, kQuantities.size()> names;
  std::transform(kQuantities.begin(), kQuantities.end(), names.begin(),
                 [](const Quantity& one) { return one.name; });
  ModelCondition condition{text};
  condition.quantity = &kQuantities.at(place_of("--until", text.substr(0, sign), names));
  condition.at_least = text[sign] == '>';
  condition.number = parse_quantity(text.substr(sign + 2), condition.quantity->units);
  return condition;
}

/// The forecast for one value of the unknown.
struct Tried {
  std::int64_t value = 0;
  std::optional<double> found;  ///< the condition's quantity
  bool fits = true;
  bool holds = false;
  std::string refusal;  ///< where there is no forecast
};

/// The forecast with the value among the options.
Tried try_value(std::int64_t value, const std::string& name, const transformer::Architecture& model,
                const Options& options, const ModelCondition& condition,
                transformer::KernelForecasts& forecasts) {
  const auto only = [](const auto& questions) {
    if (questions.size() == 1) return questions.front();
    throw UsageError("give one value for each key but the unknown");
  };
  Tried one{value, {}, true, false, {}};
  try {
    if (options.has("serve")) {
      const auto answer = answer_service(name, model, only(read_services(options)), forecasts);
      one.fits = answer.fits();
      one.found = condition.quantity->of_service(answer);
    } else {
      const auto answer = answer_step(name, model, only(read_tasks(options)), forecasts);
      if (!answer.step) throw InputError(answer.refusal);
      one.fits = answer.fits;
      one.found = condition.quantity->of_step(answer);
    }
  } catch (const InputError& error) {
    one.refusal = error.what();
    return one;
  }
  if (!one.found) throw UsageError("--until: this has no {}", condition.quantity->name);
  one.holds = one.fits && condition.holds(*one.found);
  return one;
}

std::string holding_text(const std::vector<Tried>& tried) {
  std::string values;
  for (const Tried& one : tried) {
    if (one.holds) values += fmt::format("{}{}", values.empty() ? "" : ", ", one.value);
  }
  return values;
}

std::string table_text(const std::vector<Tried>& tried, const std::string& key,
                       const ModelCondition& condition, const Style& style) {
  const std::string holding = holding_text(tried);
  std::string text = holding.empty()
                         ? fmt::format("{} holds for no {} asked\n", condition.text, key)
                         : fmt::format("{} holds for {} {}\n", condition.text, key, holding);
  TextTable table({{key, Align::right},
                   {std::string(condition.quantity->name), Align::right},
                   {"memory"},
                   {""}});
  for (const Tried& one : tried) {
    const std::string found =
        one.found ? si_text(*one.found, condition.quantity->unit) : std::string();
    table.add({std::to_string(one.value), found,
               !one.found ? one.refusal : std::string(one.fits ? "fits" : "does not fit"),
               one.holds ? "holds" : ""});
  }
  return text + table.text(style, "  ");
}

void write_json(JsonWriter& json, const std::vector<Tried>& tried, const std::string& key,
                const ModelCondition& condition) {
  json.begin_object();
  json.member("find", key);
  json.member("until", condition.text);
  json.begin_array("holds");
  for (const Tried& one : tried) {
    if (one.holds) json.number(static_cast<double>(one.value));
  }
  json.end_array();
  json.objects("values", tried, [&](const Tried& one) {
    json.member("value", one.value);
    if (one.found) {
      json.foreign_key(condition.quantity->name);
      json.number(*one.found);
      json.boolean("fits", one.fits);
    } else {
      json.member("error", one.refusal);
    }
  });
  json.member("forecasts", static_cast<std::int64_t>(tried.size()));
  json.end_object();
  json.newline();
}

std::string required(const Options& options, std::string_view option) {
  if (const auto text = options.find(option)) return *text;
  throw UsageError("solve model needs --{}, as in --find tp=1,2,4,8 --until 'time_per_token<=20ms'",
                   option);
}

/// Reads KEY=VALUES, "tp=1,2,4,8".
Axis parse_unknown(const std::string& text, const Options& options) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) {
    throw UsageError("--find takes KEY=VALUES, such as tp=1,2,4,8; found '{}'", text);
  }
  constexpr std::array<std::string_view, 12> kKeys = {
      "batch", "seq", "context", "grad-accum",  "tp",           "dp",
      "fsdp",  "pp",  "ep",      "concurrency", "input-tokens", "output-tokens"};
  const std::string key(one_of("--find", text.substr(0, sign), kKeys));
  if (options.has(key)) throw UsageError("--find looks for {0}: leave out --{0}", key);
  Axis axis = parse_axis(key, text.substr(sign + 1));
  if (!axis.tied_to.empty()) throw UsageError("--find takes values of its own, no '='");
  if (axis.values.size() > kMostValues) {
    throw InputError(
        fmt::format("--find asks for {} values, at most {} are forecast: take larger steps",
                    axis.values.size(), kMostValues));
  }
  return axis;
}

}  // namespace

ExitCode run_solve_model(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_solve_model());
  if (words.size() != 1) {
    throw UsageError("solve model takes one configuration, such as llama-3.1-8b or a config.json");
  }
  const Axis unknown = parse_unknown(required(options, "find"), options);
  const ModelCondition condition = parse_model_condition(required(options, "until"));
  const transformer::Architecture model = model_named(words.front());
  const Gpu gpu = read_device(options);
  transformer::KernelForecasts forecasts(gpu);
  std::vector<Tried> all;
  for (const std::int64_t value : unknown.values) {
    stop_if_interrupted();
    Options asked = options;
    asked.add(unknown.name, {std::to_string(value)});
    all.push_back(try_value(value, words.front(), model, asked, condition, forecasts));
  }
  if (std::none_of(all.begin(), all.end(), [](const Tried& one) { return one.found; })) {
    throw InputError(all.front().refusal);
  }
  write_json_or_text(
      options, [&](JsonWriter& json) { write_json(json, all, unknown.name, condition); },
      [&](const Style& style) { return table_text(all, unknown.name, condition, style); });
  return ExitCode::done;
}

}  // namespace roofcast::cli
