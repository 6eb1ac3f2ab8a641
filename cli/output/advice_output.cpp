#include "cli/output/advice_output.hpp"

#include <array>

#include "cli/input/kernel_options.hpp"
#include "cli/output/settings_text.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "hw_specs/calibration_words.hpp"

namespace roofcast::cli {
namespace {

void write_product(JsonWriter& json, const AdviceAnswer& answer, const ProductForecast& product) {
  json.member("blocks", product.blocks);
  json.member("tile_fill", product.tile_fill);
  json.member("row_alignment_bytes", product.vector_bytes);
  json.key("forecast");
  write_json(json, {answer.kernel, *answer.gpu, product.prediction});
}

std::string extent_text(const ProductForecast& product, std::size_t extent) {
  return fmt::format("{}", product.prediction.problem[extent]);
}

std::string tile_text(const AdviceAnswer& answer, const ProductForecast& product) {
  const Problem& problem = product.prediction.problem;
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
  const auto add = [&](std::string_view kind, const ProductForecast& product,
                       const std::string& time, const std::string& weights,
                       const std::string& why) {
    table.add({std::string(kind), extent_text(product, 0), extent_text(product, 1),
               extent_text(product, 2), si_text(product.time_s(), "s"), time,
               si_text(product.flops_per_s, "FLOP/s"), weights, tile_text(answer, product),
               fmt::format("{}", product.blocks), figure_text(product.waves, 3), why},
              kind == name(AdviceKind::faster));
  };
  const ProductForecast& asked = answer.advised->asked;
  add("asked", asked, "", "", fmt::format("rows aligned to {} B", asked.vector_bytes));
  for (const ProductAdvice& one : answer.advised->shapes) {
    add(name(one.kind), one.product, signed_percent(one.time_change),
        weights_text(one.weight_bytes), one.why);
  }
  return table.text(style, "  ");
}

// What the kinds that occur mean.
std::string legend_text(const AdviceAnswer& answer, const Style& style) {
  constexpr std::array<std::string_view, kAdviceKinds.size()> meanings = {
      "holds the asked shape, the rest filled with zeros, and takes less time",
      "leaves the rest out, and its rate is higher",
      "room for more in the time of the first faster shape, else of the asked one"};
  std::string text;
  for (const AdviceKind kind : kAdviceKinds) {
    const auto& shapes = answer.advised->shapes;
    const auto count = std::count_if(shapes.begin(), shapes.end(),
                                     [kind](const auto& one) { return one.kind == kind; });
    if (count == 0) continue;
    text += fmt::format("  {:<8} {}\n", name(kind), meanings[static_cast<std::size_t>(kind)]);
  }
  if (text.empty()) {
    text = fmt::format("  no shape within {} of each extent is forecast faster by {} or more\n",
                       percent(answer.options.within), percent(kWorthNaming));
  }
  for (const std::string& note : answer.advised->asked.prediction.notes) {
    text += fmt::format("  {}\n", style.faint(visible(fmt::format("note: {}", note))));
  }
  return text;
}

}  // namespace

void write_json(JsonWriter& json, const AdviceAnswer& answer) {
  if (answer.refused()) {
    return write_refusal(json, answer.kernel, answer.problem, *answer.gpu, answer.refusal);
  }
  if (!answer.advised) return write_kernel_advice(json, answer);
  json.begin_object();
  json.member("schema_version", kSchemaVersion);
  if (answer.settings) write_settings(json, answer);
  json.key("asked");
  json.begin_object();
  write_product(json, answer, answer.advised->asked);
  json.end_object();
  json.key("shapes");
  json.begin_array();
  for (const ProductAdvice& one : answer.advised->shapes) {
    json.begin_object();
    json.member("kind", name(one.kind));
    json.member("time_change", one.time_change);
    json.member("rate_change", one.rate_change);
    json.member("weight_bytes", one.weight_bytes);
    json.member("why", one.why);
    write_product(json, answer, one.product);
    json.end_object();
  }
  json.end_array();
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
    if (!answer.advised) {
      fmt::format_to(to, "asked,0,0,,,,,");
      table.row({answer.kernel, *answer.gpu, answer.settings->asked});
      for (const ShapeAdvice& one : answer.shapes) {
        fmt::format_to(to, "{},{},{},,,,{},", name(one.kind), one.time_change, one.rate_change,
                       csv_field(one.why));
        table.row({answer.kernel, *answer.gpu, one.prediction});
      }
      continue;
    }
    const ProductForecast& asked = answer.advised->asked;
    fmt::format_to(to, "asked,0,0,0,{},{},,", asked.tile_fill, asked.vector_bytes);
    table.row({answer.kernel, *answer.gpu, asked.prediction});
    for (const ProductAdvice& one : answer.advised->shapes) {
      fmt::format_to(to, "{},{},{},{},{},{},{},", name(one.kind), one.time_change, one.rate_change,
                     one.weight_bytes, one.product.tile_fill, one.product.vector_bytes,
                     csv_field(one.why));
      table.row({answer.kernel, *answer.gpu, one.product.prediction});
    }
  }
}

std::string advice_text(const AdviceAnswer& answer, const Style& style) {
  const Gpu& gpu = *answer.gpu;
  std::string text = style.heading(visible(
      fmt::format("{}  {}  on {}", answer.kernel.name(), name(answer.problem.dtype), gpu.name)));
  text += '\n';
  if (answer.refused()) return text + "  " + visible(answer.refusal) + '\n';
  text += fmt::format("  calibration  {}\n\n", visible(specs::calibration_text(gpu)));
  if (!answer.advised) return text + kernel_advice_text(answer, style);
  if (answer.settings) text += settings_text(answer, style) + '\n';
  return text + shapes_text(answer, style) + '\n' + legend_text(answer, style);
}

}  // namespace roofcast::cli
