#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/json_writer.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "model/advice.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kAdviseLinearHelp = {
    "  roofcast advise linear --tokens 8192 --in 768 --out 50257 --dtype bf16 --gpu h100-sxm5\n"
    "  roofcast advise linear --tokens 4096 --in 4095 --out 11008 --dtype bf16 --gpu "
    "h200-sxm,a100-sxm4-80gb --format json\n",
    "roofcast advise linear --tokens T --in N --out N [options]",
    "The three products of a linear layer in training, each with its operands as the layer leaves "
    "them\n"
    "(Y = X W^T, dX = dY W, dW = dY^T X), and the sizes of the layer at which they take less time "
    "together.\n"
    "The forecasts are those of gemm.library."};

std::vector<Option> known_options() {
  return with_forecast_options(
      {{"tokens", "N", "rows of X: tokens of the batch"},
       {"in", "N", "columns of X"},
       {"out", "N", "columns of Y, such as a vocabulary"},
       {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
       {"dtype", "TYPE", "element type: bf16, fp16 … (default: bf16)"},
       {"format", "table|json", "output format (default: table); json: an object a line"},
       {"output,o", "FILE", "write there instead of standard output"},
       {"help,h", "", "this text"}});
}

std::int64_t read_extent(const Options& options, std::string_view name) {
  const auto text = options.find(name);
  if (!text) {
    throw UsageError(
        fmt::format("--{} is missing. For example: roofcast advise linear --tokens 8192 --in 768 "
                    "--out 50257 --dtype "
                    "bf16 --gpu h100-sxm5",
                    name));
  }
  constexpr std::int64_t kMost = 1 << 24;
  const std::int64_t value = parse_whole(fmt::format("--{}", name), *text);
  if (value >= 1 && value <= kMost) return value;
  throw InputError(fmt::format("--{} takes 1 to {}, found {}", name, kMost, value));
}

std::string change_text(double time_s, double asked_s) {
  return signed_percent(time_s / asked_s - 1);
}

std::string table_text(const LayerAdvice& advice, const Style& style) {
  TextTable table({{"layer"},
                   {"in", Align::right},
                   {"out", Align::right},
                   {"Y = X W^T", Align::right},
                   {"dX = dY W", Align::right},
                   {"dW = dY^T X", Align::right},
                   {"all three", Align::right},
                   {"time", Align::right}});
  const auto add = [&](std::string_view which, const LayerForecast& one) {
    std::vector<std::string> cells = {std::string(which), fmt::to_string(one.layer.in),
                                      fmt::to_string(one.layer.out)};
    for (const Prediction& product : one.products) {
      cells.push_back(si_text(product.time->expected_s, "s"));
    }
    cells.push_back(si_text(one.time_s(), "s"));
    cells.push_back(&one == &advice.asked ? "" : change_text(one.time_s(), advice.asked.time_s()));
    table.add(cells, &one != &advice.asked);
  };
  add("asked", advice.asked);
  for (const LayerForecast& one : advice.padded) add("padded", one);
  std::string text = table.text(style, "  ");
  if (advice.padded.empty()) text += "\n  no padding to a multiple of 8 to 256 gains 3% or more\n";
  return text;
}

void write_forecast(JsonWriter& json, const LayerForecast& one) {
  json.begin_object();
  json.member("tokens", one.layer.tokens);
  json.member("in", one.layer.in);
  json.member("out", one.layer.out);
  json.member("expected_s", one.time_s());
  json.key("products");
  json.begin_array();
  for (std::size_t i = 0; i < kLayerProducts.size(); ++i) {
    const Prediction& product = one.products[i];
    json.begin_object();
    json.word_member("product", kLayerProducts[i]);
    json.member("expected_s", product.time->expected_s);
    json.member("low_s", product.time->low_s);
    json.member("high_s", product.time->high_s);
    json.member("limit_s", product.limit.time_s);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_advice(JsonWriter& json, const LayerAdvice& advice, const Gpu& gpu) {
  json.begin_object();
  json.member("gpu", std::string_view(gpu.name));
  json.key("asked");
  write_forecast(json, advice.asked);
  json.key("padded");
  json.begin_array();
  for (const LayerForecast& one : advice.padded) write_forecast(json, one);
  json.end_array();
  json.end_object();
  json.newline();
}

}  // namespace

ExitCode run_advise_linear(const Arguments& arguments) {
  const std::vector<Option> known = known_options();
  const auto given = read_arguments(arguments, kAdviseLinearHelp, known);
  if (!given) return ExitCode::done;
  const Options& options = given->options;
  if (!given->words.empty()) {
    throw UsageError(
        fmt::format("advise linear takes options alone, found '{}'", given->words.front()));
  }
  const LinearLayer layer{read_extent(options, "tokens"), read_extent(options, "in"),
                          read_extent(options, "out")};
  const DType dtype = read_dtype(options.get("dtype", "bf16"), kernel_named("gemm.library"));
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const bool as_json = one_of("--format", options.get("format", "table"), formats) == "json";
  const Assumptions assumptions = read_assumptions(options);
  const DeviceOptions device = read_device_options(options);
  Output output(options.find("output"));
  const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
  bool first = true;
  for (const std::string& name : read_device_names(options)) {
    const Gpu gpu = load_device(name, device);
    const LayerAdvice advice = advise_layer(layer, dtype, gpu, assumptions);
    if (as_json) {
      JsonWriter json(output.buffer());
      write_advice(json, advice, gpu);
      continue;
    }
    output.write(
        fmt::format("{}{}\n{}", first ? "" : "\n",
                    style.heading(fmt::format("linear layer, {} tokens  {}  on {}", layer.tokens,
                                              roofcast::name(dtype), gpu.name)),
                    table_text(advice, style)));
    first = false;
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
