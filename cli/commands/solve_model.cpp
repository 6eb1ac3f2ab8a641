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
#include "cli/output/files.hpp"
#include "cli/output/serving_output.hpp"
#include "cli/output/signals.hpp"
#include "cli/output/step_output.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kSolveModelHelp = {
    "  roofcast solve model llama-3.1-70b --decode --batch 64 --context 8192 --gpu h100-sxm5 "
    "--find tp=1,2,4,8 --until 'time_per_token<=20ms'\n"
    "  roofcast solve model qwen3-32b --serve --input-tokens 2048 --output-tokens 256 --tp 2 --gpu "
    "h100-sxm5 --find concurrency=8:128:*2 --until 'time_to_first_token<=500ms'\n",
    "roofcast solve model CONFIG --train|--prefill|--decode|--serve --find KEY=VALUES --until "
    "CONDITION [options]",
    "For which values of KEY, a number that `roofcast model` takes, the step or the service "
    "fulfils the\n"
    "condition: each is forecast. What memory does not hold fulfils none. VALUES as in a sweep: "
    "1,2,4 or\n"
    "8:128:*2."};

constexpr std::size_t kMostValues = 1024;

std::vector<Option> known_options() {
  std::vector<Option> known = {
      {"find", "KEY=VALUES", "the unknown, such as tp=1,2,4,8"},
      {"until", "CONDITION",
       "time<=50ms, time_per_token<=20ms, time_to_first_token<=1s, tokens_per_s>=1000, mfu>=0.4 or "
       "memory<=40GB"},
      {"gpu", "NAME|PATH", "the device"}};
  for (Option& option : task_options()) known.push_back(std::move(option));
  for (Option& option : service_options()) known.push_back(std::move(option));
  known.push_back({"format", "table|json", "output format (default: table)"});
  known.push_back({"output,o", "FILE", "write there instead of standard output"});
  known.push_back({"help,h", "", "this text"});
  for (Option& option : device_option_table()) known.push_back(std::move(option));
  return known;
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
    throw UsageError(fmt::format(
        "--until takes a condition in quotation marks, as 'time_per_token<=20ms'; found '{}'",
        text));
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

std::optional<double> needed(const std::optional<double>& value, const ModelCondition& condition) {
  if (value) return value;
  throw UsageError(fmt::format("--until: this has no {}", condition.quantity->name));
}

/// The condition's quantity as forecast with the options, and whether memory holds the step or
/// service.
std::pair<std::optional<double>, bool> forecast(const std::string& name,
                                                const transformer::Architecture& model,
                                                const Options& options,
                                                const ModelCondition& condition,
                                                transformer::KernelForecasts& forecasts) {
  if (options.has("serve")) {
    const auto services = read_services(options);
    if (services.size() != 1) throw UsageError("give one value for each key but the unknown");
    const ServingAnswer answer{name, forecasts.gpu().name, services.front(),
                               predict_serving(model, services.front(), forecasts)};
    return {needed(condition.quantity->of_service(answer), condition), answer.fits()};
  }
  const auto tasks = read_tasks(options);
  if (tasks.size() != 1) throw UsageError("give one value for each key but the unknown");
  const StepAnswer answer = answer_step(name, model, tasks.front(), forecasts);
  if (!answer.step) throw InputError(answer.refusal);
  return {needed(condition.quantity->of_step(answer), condition), answer.fits};
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
  json.member("find", std::string_view(key));
  json.member("until", std::string_view(condition.text));
  json.key("holds");
  json.begin_array();
  for (const Tried& one : tried) {
    if (one.holds) json.number(static_cast<double>(one.value));
  }
  json.end_array();
  json.key("values");
  json.begin_array();
  for (const Tried& one : tried) {
    json.begin_object();
    json.member("value", one.value);
    if (one.found) {
      json.foreign_key(condition.quantity->name);
      json.number(*one.found);
      json.key("fits");
      json.boolean(one.fits);
    } else {
      json.member("error", std::string_view(one.refusal));
    }
    json.end_object();
  }
  json.end_array();
  json.member("forecasts", static_cast<std::int64_t>(tried.size()));
  json.end_object();
  json.newline();
}

std::string required(const Options& options, std::string_view option) {
  if (const auto text = options.find(option)) return *text;
  throw UsageError(fmt::format(
      "solve model needs --{}, as in --find tp=1,2,4,8 --until 'time_per_token<=20ms'", option));
}

/// Reads KEY=VALUES, "tp=1,2,4,8".
Axis parse_unknown(const std::string& text, const Options& options) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos) {
    throw UsageError(fmt::format("--find takes KEY=VALUES, such as tp=1,2,4,8; found '{}'", text));
  }
  constexpr std::array<std::string_view, 12> kKeys = {
      "batch", "seq", "context", "grad-accum",  "tp",           "dp",
      "fsdp",  "pp",  "ep",      "concurrency", "input-tokens", "output-tokens"};
  const std::string key(one_of("--find", text.substr(0, sign), kKeys));
  if (options.has(key)) throw UsageError(fmt::format("--find looks for {0}: leave out --{0}", key));
  Axis axis = parse_axis(key, text.substr(sign + 1));
  if (!axis.tied_to.empty()) throw UsageError("--find takes values of its own, no '='");
  if (axis.values.size() > kMostValues) {
    throw InputError(
        fmt::format("--find asks for {} values, at most {} are forecast: take larger "
                    "steps",
                    axis.values.size(), kMostValues));
  }
  return axis;
}

}  // namespace

ExitCode run_solve_model(const Arguments& arguments) {
  const auto given = read_arguments(arguments, kSolveModelHelp, known_options());
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  if (words.size() != 1) {
    throw UsageError("solve model takes one configuration, such as llama-3.1-8b or a config.json");
  }
  const Axis unknown = parse_unknown(required(options, "find"), options);
  const ModelCondition condition = parse_model_condition(required(options, "until"));
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const bool as_json = one_of("--format", options.get("format", "table"), formats) == formats[1];
  const transformer::Architecture model = model_named(words.front());
  const Gpu gpu = load_device(read_device_name(options), read_device_options(options));
  transformer::KernelForecasts forecasts(gpu);
  std::vector<Tried> tried;
  for (const std::int64_t value : unknown.values) {
    stop_if_interrupted();
    Tried& one = tried.emplace_back(Tried{value, std::nullopt, true, false, {}});
    Options asked = options;
    asked.add(unknown.name, {std::to_string(value)});
    try {
      std::tie(one.found, one.fits) = forecast(words.front(), model, asked, condition, forecasts);
      one.holds = one.fits && condition.holds(*one.found);
    } catch (const InputError& error) {
      one.refusal = error.what();
    }
  }
  if (std::none_of(tried.begin(), tried.end(), [](const Tried& one) { return one.found; })) {
    throw InputError(tried.front().refusal);
  }
  Output output(options.find("output"));
  if (as_json) {
    JsonWriter json(output.buffer());
    write_json(json, tried, unknown.name, condition);
  } else {
    const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
    output.write(table_text(tried, unknown.name, condition, style));
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
