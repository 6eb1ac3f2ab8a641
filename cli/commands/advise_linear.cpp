#include <fmt/format.h>

#include "advice/advice.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/json_or_text.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

Manual manual_advise_linear() {
  return {
      .examples =
          "  roofcast advise linear --tokens 8192 --in 768 --out 50257 --dtype bf16 --gpu "
          "h100-sxm5\n"
          "  roofcast advise linear --tokens 4096 --in 4095 --out 11008 --dtype bf16 --gpu "
          "h200-sxm,a100-sxm4-80gb --format json\n",
      .usage = "roofcast advise linear --tokens T --in N --out N [options]",
      .about =
          R"(The three products of a linear layer in training, each with its operands as the layer
leaves them (Y = X W^T, dX = dY W, dW = dY^T X), and the sizes of the layer at which
they take less time together. The forecasts are those of gemm.library.)",
      .options = with_forecast_options(
          {{"tokens", "N", "rows of X: tokens of the batch"},
           {"in", "N", "columns of X"},
           {"out", "N", "columns of Y, such as a vocabulary"},
           {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
           {"dtype", "TYPE", "element type: bf16, fp16 … (default: bf16)"},
           {"format", "table|json",
            "output format (default: as the output's name ends, else table); json: an object a "
            "line"},
           {"output,o", "FILE", "write there instead of standard output"},
           {"help,h", "", "this text"}})};
}

std::int64_t read_extent(const Options& options, std::string_view name) {
  const auto text = options.find(name);
  if (!text) {
    throw UsageError(
        "--{} is missing. For example: roofcast advise linear --tokens 8192 --in 768 --out 50257 "
        "--dtype bf16 --gpu h100-sxm5",
        name);
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
  json.begin_array("products");
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
  json.member("gpu", gpu.name);
  json.key("asked");
  write_forecast(json, advice.asked);
  json.array("padded", advice.padded, [&](const LayerForecast& one) { write_forecast(json, one); });
  json.end_object();
  json.newline();
}

}  // namespace

ExitCode run_advise_linear(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_advise_linear());
  if (!words.empty()) {
    throw UsageError("advise linear takes options alone, found '{}'", words.front());
  }
  const LinearLayer layer{read_extent(options, "tokens"), read_extent(options, "in"),
                          read_extent(options, "out")};
  const DType dtype = read_dtype(options.get("dtype", "bf16"), kernel_named("gemm.library"));
  const Assumptions assumptions = read_assumptions(options);
  const std::vector<Gpu> gpus = read_devices(options);
  std::vector<LayerAdvice> advice;
  advice.reserve(gpus.size());
  for (const Gpu& gpu : gpus) advice.push_back(advise_layer(layer, dtype, gpu, assumptions));
  write_json_or_text(
      options,
      [&](JsonWriter& json) {
        for (std::size_t i = 0; i < gpus.size(); ++i) write_advice(json, advice[i], gpus[i]);
      },
      [&](const Style& style) {
        std::string text;
        for (std::size_t i = 0; i < gpus.size(); ++i) {
          const std::string heading =
              fmt::format("linear layer, {} tokens  {}  on {}", layer.tokens, roofcast::name(dtype),
                          gpus[i].name);
          text += fmt::format("{}{}\n{}", i == 0 ? "" : "\n", style.heading(heading),
                              table_text(advice[i], style));
        }
        return text;
      });
  return ExitCode::done;
}

}  // namespace roofcast::cli
