#include "cli/output/advice_output.hpp"

#include <algorithm>
#include <array>

#include "cli/input/kernel_options.hpp"
#include "cli/output/settings_text.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "hw_specs/calibration_words.hpp"

namespace roofcast::cli {
namespace {

void write_forecast(JsonWriter& json, const AdviceAnswer& answer, const AdvisedShape& shape) {
  if (const auto& product = shape.product) {
    json.member("blocks", shape.prediction.launch->blocks());
    json.member("tile_fill", product->tile_fill);
    json.member("row_alignment_bytes", product->vector_bytes);
  }
  json.key("forecast");
  write_json(json, {answer.kernel, *answer.gpu, shape.prediction});
}

std::string tile_text(const AdviceAnswer& answer, const Problem& problem) {
  const auto m = value_named(answer.kernel, problem, "tile_m");
  const auto n = value_named(answer.kernel, problem, "tile_n");
  if (!m || !n) return "–";
  const auto parts = value_named(answer.kernel, problem, "split_k").value_or(1);
  const auto rest = value_named(answer.kernel, problem, "split_rest").value_or(1);
  return fmt::format("{}x{}{}{}", *m, *n, parts > 1 ? fmt::format(", k in {}", parts) : "",
                     rest > 1 ? fmt::format(", the last round's in {}", rest) : "");
}

std::string weights_text(double bytes) {
  if (bytes == 0) return "–";
  return (bytes > 0 ? "+" : "−") + si_text(std::abs(bytes), "B", 3);
}

std::string shapes_text(const AdviceAnswer& answer, const Style& style) {
  TextTable table({{"shape"},
                   {"m", Align::right},
                   {"n", Align::right},
                   {"k", Align::right},
                   {"expected", Align::right},
                   {"time", Align::right},
                   {"rate", Align::right},
                   {"weights", Align::right},
                   {"tile"},
                   {"blocks", Align::right},
                   {"waves", Align::right},
                   {"why"}});
  const auto add = [&](const AdvisedShape& shape, const std::string& time,
                       const std::string& weights, const std::string& why) {
    const Problem& p = shape.prediction.problem;
    table.add(
        {std::string(name(shape.kind)), fmt::to_string(p[0]), fmt::to_string(p[1]),
         fmt::to_string(p[2]), si_text(shape.time_s(), "s"), time, si_text(shape.rate, "FLOP/s"),
         weights, tile_text(answer, p), fmt::to_string(shape.prediction.launch->blocks()),
         figure_text(shape.prediction.waves->count, 3), why},
        shape.kind == AdviceKind::faster);
  };
  const AdvisedShape& asked = answer.advice->asked;
  add(asked, "", "", fmt::format("rows aligned to {} B", asked.product->vector_bytes));
  for (const AdvisedShape& one : answer.advice->shapes) {
    add(one, signed_percent(one.time_change), weights_text(one.product->weight_bytes), one.why);
  }
  return table.text(style, "  ");
}

// The meaning of each kind of shape that occurs, and the notes of the forecast.
std::string legend_text(const AdviceAnswer& answer, const Style& style) {
  struct Meaning {
    AdviceKind kind;
    std::string_view text;
  };
  constexpr std::array meanings = {
      Meaning{AdviceKind::faster,
              "holds the asked shape, the rest filled with zeros, and takes less time"},
      Meaning{AdviceKind::smaller, "leaves the rest out, and its rate is higher"},
      Meaning{AdviceKind::room,
              "room for more in the time of the first faster shape, else of the asked one"}};
  std::string text;
  const auto& shapes = answer.advice->shapes;
  for (const Meaning& one : meanings) {
    if (std::any_of(shapes.begin(), shapes.end(),
                    [&](const AdvisedShape& shape) { return shape.kind == one.kind; })) {
      text += fmt::format("  {:<8} {}\n", name(one.kind), one.text);
    }
  }
  if (text.empty()) {
    text = fmt::format("  no shape within {} of each extent is forecast faster by {} or more\n",
                       percent(answer.options.within), percent(kWorthNaming));
  }
  return text + notes_text(answer.advice->asked.prediction.notes, style);
}

}  // namespace

void write_json(JsonWriter& json, const AdviceAnswer& answer) {
  if (answer.refused()) {
    return write_refusal(json, answer.kernel, answer.problem, *answer.gpu, answer.refusal);
  }
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  if (answer.settings) write_settings(json, answer);
  json.begin_object("asked");
  write_forecast(json, answer, answer.advice->asked);
  json.end_object();
  json.objects("shapes", answer.advice->shapes, [&](const AdvisedShape& one) {
    json.member("kind", name(one.kind));
    json.member("time_change", one.time_change);
    json.member("rate_change", one.rate_change);
    if (one.product) json.member("weight_bytes", one.product->weight_bytes);
    json.member("why", one.why);
    write_forecast(json, answer, one);
  });
  if (!answer.of_product() && !answer.variants.empty()) {
    json.array("variants", answer.variants, [&](const Candidate& one) { write_json(json, one); });
  }
  json.end_object();
}

void write_csv(fmt::memory_buffer& out, std::span<const AdviceAnswer> answers) {
  CsvWriter table(out, parameter_names({&answers.front().kernel, 1}));
  const auto to = std::back_inserter(out);
  fmt::format_to(to,
                 "shape,time_change,rate_change,weight_bytes,tile_fill,row_alignment_bytes,why,");
  table.header();
  for (const AdviceAnswer& answer : answers) {
    if (answer.refused()) {
      fmt::format_to(to, "asked,,,,,,,");
      table.refused(answer.kernel, answer.problem, *answer.gpu, answer.refusal);
      continue;
    }
    if (answer.settings) {
      const SettingsAdvice& settings = *answer.settings;
      const double asked_s = settings.asked.time->expected_s;
      for (const Prediction& one : settings.faster) {
        fmt::format_to(to, "settings,{},,,,,,", one.time->expected_s / asked_s - 1);
        table.row({answer.kernel, *answer.gpu, one});
      }
    }
    const auto add = [&](const AdvisedShape& shape, const Prediction& prediction) {
      fmt::format_to(to, "{},{},{},", name(shape.kind), shape.time_change, shape.rate_change);
      if (const auto& product = shape.product) {
        fmt::format_to(to, "{},{},{},", product->weight_bytes, product->tile_fill,
                       product->vector_bytes);
      } else {
        fmt::format_to(to, ",,,");
      }
      fmt::format_to(to, "{},", csv_field(shape.why));
      table.row({answer.kernel, *answer.gpu, prediction});
    };
    const AdvisedShape& asked = answer.advice->asked;
    add(asked, answer.of_product() ? asked.prediction : answer.settings->asked);
    for (const AdvisedShape& one : answer.advice->shapes) add(one, one.prediction);
  }
}

std::string advice_text(const AdviceAnswer& answer, const Style& style) {
  const Gpu& gpu = *answer.gpu;
  std::string text = style.heading(visible(
      fmt::format("{}  {}  on {}", answer.kernel.name(), name(answer.problem.dtype), gpu.name)));
  text += '\n';
  if (answer.refused()) return text + "  " + visible(answer.refusal) + '\n';
  text += fmt::format("  calibration  {}\n\n", visible(specs::calibration_text(gpu)));
  if (!answer.of_product()) return text + kernel_advice_text(answer, style);
  if (answer.settings) text += settings_text(answer, style) + '\n';
  return text + shapes_text(answer, style) + '\n' + legend_text(answer, style);
}

}  // namespace roofcast::cli
