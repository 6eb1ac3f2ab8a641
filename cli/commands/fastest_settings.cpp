#include "cli/commands/fastest_settings.hpp"

#include "cli/commands/variants.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/sweep_plan.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kShown = 5;

/// Every name, or the powers of two in the parameter's range.
std::string default_values(const Parameter& parameter) {
  if (!parameter.choices.empty()) return fmt::format("{}", fmt::join(parameter.choices, ","));
  std::string values;
  for (std::int64_t value = 1; value <= parameter.maximum; value *= 2) {
    if (value < parameter.minimum) continue;
    values += fmt::format("{}{}", values.empty() ? "" : ",", value);
  }
  return values;
}

/// The options with the default values of each parameter that --vary names.
Options with_varied(const KernelRef& kernel, const Options& options) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : kernel.parameters()) {
    if (!parameter.is_text) names.push_back(parameter.name);
  }
  Options filled = options;
  if (!options.has("vary")) return filled;
  for (const std::string& word : distinct("--vary", split_list(options.get("vary", ""), ','))) {
    const std::string_view name = one_of("--vary", word, names);
    if (options.has(name)) continue;
    const auto parameters = kernel.parameters();
    filled.add(std::string(name), {default_values(parameters[*position_named(parameters, name)])});
  }
  return filled;
}

bool is_faster(const Candidate& a, const Candidate& b) {
  return a.prediction->time->expected_s < b.prediction->time->expected_s;
}

}  // namespace

FastestSettings fastest_settings(const KernelRef& kernel, const Gpu& gpu, const Options& options) {
  const KernelSweep sweep = plan_sweep(kernel, with_varied(kernel, options));
  const Assumptions assumptions = read_assumptions(options);
  FastestSettings settings;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (sweep.axes[i].values.size() != 1) settings.varied.push_back(sweep.positions[i]);
  }
  if (settings.varied.empty()) {
    throw UsageError(
        "nothing varies: name the parameters, as --vary tile_m,tile_n, or give one several values, "
        "as --tile_m 32,64,128");
  }
  std::string refusal;
  walk(sweep, 1, [&](const Problem& problem) {
    const Candidate candidate = forecast(kernel, problem, sweep.given, gpu, assumptions);
    ++settings.forecasts;
    if (candidate.prediction && !candidate.prediction->time) {
      throw InputError(
          kernel.kernel == nullptr
              ? "a family alone has no expected time: name one of its kernels"
              : fmt::format("there is no expected time of {} on {}", kernel.name(), gpu.name));
    }
    if (!candidate.prediction) {
      if (refusal.empty()) refusal = candidate.refusal;
      ++settings.refused;
      return;
    }
    auto& fastest = settings.fastest;
    fastest.insert(std::upper_bound(fastest.begin(), fastest.end(), candidate, is_faster),
                   candidate);
    if (fastest.size() > kShown) fastest.pop_back();
  });
  if (settings.fastest.empty()) throw InputError(refusal);
  return settings;
}

std::string fastest_text(const FastestSettings& settings, const Style& style) {
  const KernelRef& kernel = settings.fastest.front().kernel;
  std::vector<TextTable::Column> columns;
  for (const std::size_t position : settings.varied) {
    columns.push_back({std::string(kernel.parameters()[position].name), Align::right});
  }
  for (const char* title : {"expected", "low", "high"}) columns.push_back({title, Align::right});
  columns.push_back({"bound"});
  TextTable table(std::move(columns));
  for (const Candidate& candidate : settings.fastest) {
    const Prediction& prediction = *candidate.prediction;
    std::vector<std::string> cells;
    for (const std::size_t position : settings.varied) {
      cells.push_back(value_text(kernel.parameters()[position], prediction.problem, position));
    }
    const Forecast& time = *prediction.time;
    for (const double each : {time.expected_s, time.low_s, time.high_s}) {
      cells.push_back(si_text(each, "s"));
    }
    cells.emplace_back(name(binding(time.terms)));
    table.add(std::move(cells));
  }
  std::string text = fmt::format("{} on {}, the fastest first:\n", kernel.name(),
                                 settings.fastest.front().gpu->name);
  text += table.text(style, "  ");
  text += fmt::format("  every one of {} settings was forecast", settings.forecasts);
  if (settings.refused > 0) text += fmt::format("; {} of them cannot run", settings.refused);
  return text + "\n";
}

void write_json(JsonWriter& json, const FastestSettings& settings) {
  json.begin_object();
  json.array("fastest", settings.fastest,
             [&](const Candidate& candidate) { write_json(json, candidate); });
  json.member("forecasts", static_cast<std::int64_t>(settings.forecasts));
  json.member("refused", static_cast<std::int64_t>(settings.refused));
  json.end_object();
  json.newline();
}

}  // namespace roofcast::cli
