#include "cli/output/settings_text.hpp"

#include <cmath>

#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {
namespace {

std::vector<std::string> cells_of(std::string_view kind, const AdviceAnswer& answer,
                                  const Prediction& prediction,
                                  std::span<const std::size_t> positions) {
  std::vector<std::string> cells = {std::string(kind)};
  for (const std::size_t position : positions) {
    cells.push_back(value_text(answer.kernel.parameters()[position], prediction.problem, position));
  }
  return cells;
}

std::vector<TextTable::Column> columns_of(std::string_view first, const AdviceAnswer& answer,
                                          std::span<const std::size_t> positions) {
  std::vector<TextTable::Column> columns = {{std::string(first)}};
  for (const std::size_t position : positions) {
    columns.push_back({std::string(answer.kernel.parameters()[position].name), Align::right});
  }
  return columns;
}

double time_s(const Prediction& prediction) {
  return prediction.time->expected_s;
}

std::string change_text(const Prediction& one, const Prediction& asked) {
  return &one == &asked ? "" : signed_percent(time_s(one) / time_s(asked) - 1);
}

std::string shapes_text(const AdviceAnswer& answer, const Style& style) {
  const std::vector<std::size_t> extents = extents_of(answer.kernel);
  std::vector<TextTable::Column> columns = columns_of("shape", answer, extents);
  for (const char* title : {"expected", "time", "rate"}) columns.push_back({title, Align::right});
  columns.push_back({"why"});
  TextTable table(std::move(columns));
  const auto add = [&](const AdvisedShape& one, const std::string& time, const std::string& why) {
    std::vector<std::string> cells = cells_of(name(one.kind), answer, one.prediction, extents);
    cells.push_back(si_text(one.time_s(), "s"));
    cells.push_back(time);
    cells.push_back(si_text(one.rate, one.prediction.useful_flops > 0 ? "FLOP/s" : "B/s"));
    cells.push_back(why);
    table.add(std::move(cells), one.kind == AdviceKind::faster);
  };
  const bool changed = !answer.settings->faster.empty();
  add(answer.advice->asked, "", changed ? "with the fastest settings" : "");
  for (const AdvisedShape& one : answer.advice->shapes) {
    add(one, signed_percent(one.time_change), one.why);
  }
  std::string text = table.text(style, "  ");
  if (answer.advice->shapes.empty()) {
    text += fmt::format("  no shape within {} of each extent is forecast faster by {} or more\n",
                        percent(answer.options.within), percent(kWorthNaming));
  }
  return text;
}

std::string variants_text(const AdviceAnswer& answer, const Style& style) {
  TextTable table({{"variant"}, {"expected", Align::right}, {"bound"}, {"its fastest settings"}});
  for (const Candidate& one : answer.variants) {
    const std::string kernel(one.kernel.name());
    if (!one.prediction) {
      table.add({kernel, "–", "–", one.refusal});
      continue;
    }
    std::string settings;
    for (const std::size_t position : settings_of(one.kernel)) {
      const Parameter& parameter = one.kernel.parameters()[position];
      settings += fmt::format("{}{}={}", settings.empty() ? "" : " ", parameter.name,
                              value_text(parameter, one.prediction->problem, position));
    }
    table.add({kernel, si_text(time_s(*one.prediction), "s"),
               std::string(name(binding(one.prediction->time->terms))), settings},
              &one == answer.variants.data());
  }
  return table.text(style, "  ");
}

void write_forecast(JsonWriter& json, const AdviceAnswer& answer, const Prediction& prediction) {
  write_json(json, {answer.kernel, *answer.gpu, prediction});
}

}  // namespace

std::string settings_text(const AdviceAnswer& answer, const Style& style) {
  const SettingsAdvice& advice = *answer.settings;
  if (advice.settings.empty()) return "  the kernel has no settings to choose\n";
  std::vector<TextTable::Column> columns = columns_of("settings", answer, advice.settings);
  for (const char* title : {"expected", "low", "high", "time"}) {
    columns.push_back({title, Align::right});
  }
  columns.push_back({"bound"});
  TextTable table(std::move(columns));
  const auto add = [&](std::string_view kind, const Prediction& one) {
    std::vector<std::string> cells = cells_of(kind, answer, one, advice.settings);
    const Forecast& time = *one.time;
    for (const double each : {time.expected_s, time.low_s, time.high_s}) {
      cells.push_back(si_text(each, "s"));
    }
    cells.push_back(change_text(one, advice.asked));
    cells.emplace_back(name(binding(time.terms)));
    table.add(std::move(cells), &one == &advice.best() && !advice.faster.empty());
  };
  add("asked", advice.asked);
  for (const Prediction& one : advice.faster) add("faster", one);
  std::string text = table.text(style, "  ");
  if (advice.faster.empty()) {
    text += fmt::format("  no settings are forecast faster by {} or more\n", percent(kWorthNaming));
  }
  if (advice.forecasts == 1) return text + "  the model has chosen them by itself\n";
  return text + fmt::format("  {} settings were forecast: {}\n", advice.forecasts,
                            advice.every_value ? "every power of two of each"
                                               : "powers of two, two of the settings at a time");
}

void write_settings(JsonWriter& json, const AdviceAnswer& answer) {
  const SettingsAdvice& advice = *answer.settings;
  json.begin_object("settings");
  json.key("asked");
  write_forecast(json, answer, advice.asked);
  json.array("faster", advice.faster,
             [&](const Prediction& one) { write_forecast(json, answer, one); });
  json.member("forecasts", static_cast<std::int64_t>(advice.forecasts));
  json.boolean("every_value", advice.every_value);
  json.end_object();
}

std::string kernel_advice_text(const AdviceAnswer& answer, const Style& style) {
  std::string text;
  if (!answer.variants.empty()) text += variants_text(answer, style) + '\n';
  text += settings_text(answer, style) + '\n' + shapes_text(answer, style);
  return text + notes_text(answer.settings->best().notes, style);
}

}  // namespace roofcast::cli
