#include "cli/commands/opening.hpp"
#include "cli/commands/sensitivity.hpp"
#include "cli/input/distinct_files.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/explanation.hpp"
#include "cli/output/files.hpp"
#include "reports/chart.hpp"
#include "reports/forecast_charts.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kExplainHelp = {
    "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm\n"
    "  roofcast explain softmax.online --rows 4096 --cols 8192 --dtype bf16 --gpu a100-sxm4-80gb "
    "--format json\n"
    "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm -o parts.svg\n"
    "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm --plot traffic "
    "-o traffic.html\n",
    "roofcast explain KERNEL [options]",
    "Why a forecast is what it is: the parts that add up to the time, each resource's amount "
    "divided\n"
    "by its rate, the blocks over the SMs, and every value of the GPU that the time hangs on, with "
    "its\n"
    "source: by how much the time changes where the value is a tenth larger. With a chart as "
    "output,\n"
    "the parts as a picture, the blocks over the SMs, or the bytes at each level of memory."};

constexpr double kChartWidth = 720;
constexpr std::array<std::string_view, 3> kPlots = {"parts", "timeline", "traffic"};

std::string drawn(std::string_view plot, const std::vector<reports::NamedForecast>& forecasts,
                  double width) {
  if (plot == "timeline") return reports::timeline_chart(forecasts, width);
  if (plot == "traffic") return reports::traffic_chart(forecasts, width);
  return reports::parts_chart(forecasts, width);
}

std::vector<Option> known_options() {
  return with_forecast_options(
      {{"gpu", "NAME|PATH", "the device", true},
       {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"},
       {"format", "table|json", "output format (default: table)"},
       {"plot", "CHART", fmt::format("the chart: {} (default: parts)", fmt::join(kPlots, ", "))},
       {"output,o", "FILE", "write there; or a chart: chart.html, chart.svg, chart.png"},
       {"help,h", "", "this text"}});
}

}  // namespace

Manual manual_explain() {
  return {kExplainHelp, known_options()};
}

ExitCode run_explain(const Arguments& arguments) {
  std::vector<Option> known = known_options();
  const SplitArguments split = split_words(arguments, known);
  std::vector<KernelRef> kernels;
  for (const std::string& word : split.words) kernels.push_back(kernel_named(word));
  for (auto& option : parameter_options(kernels, "N")) known.push_back(std::move(option));
  if (writes_help(arguments, kExplainHelp, known)) return ExitCode::done;
  const Options options = parse_options(split.options, known);
  refuse_output_over_input(options, known, split.words);
  if (kernels.size() != 1 || kernels.front().kernel == nullptr) {
    throw UsageError(
        "explain takes one kernel, as gemm.tiled: `roofcast kernels` lists them. For example: "
        "roofcast explain gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm");
  }
  constexpr std::array<std::string_view, 2> formats = {"table", "json"};
  const bool as_json = one_of("--format", options.get("format", "table"), formats) == "json";

  const KernelRef& kernel = kernels.front();
  const Problem problem = read_problem(options, kernel);
  const std::string device = read_device_name(options);
  const DeviceOptions device_options = read_device_options(options);
  const Assumptions assumptions = read_assumptions(options);
  const Gpu gpu = load_device(device, device_options);
  const Prediction prediction = predict(kernel, problem, gpu, assumptions);
  if (!prediction.time) {
    throw InputError(prediction.notes.empty() ? "no expected time" : prediction.notes.front());
  }
  const Answer answer{kernel, gpu, prediction};
  const auto path = options.find("output");
  if (options.has("plot") || (path && is_picture(*path))) {
    const std::string_view plot = one_of("--plot", options.get("plot", "parts"), kPlots);
    if (plot == "timeline" && (!prediction.waves || prediction.launches != 1)) {
      throw InputError("--plot timeline shows the blocks of one launch: this is none, or several");
    }
    const std::string title = fmt::format("{} on {}", kernel.name(), gpu.name);
    const std::vector<reports::NamedForecast> forecasts = {{title, &prediction}};
    write_chart(title, drawn(plot, forecasts, kChartWidth), path,
                [&] { return drawn(plot, forecasts, reports::kNarrowFrame); });
    return ExitCode::done;
  }
  const std::vector<Sensitivity> found =
      sensitivities(kernel, problem, device, device_options, assumptions);
  const std::vector<Formula> made =
      formulas(answer, specs::values_with_sources(device_source(device, device_options)));
  Output output(path);
  if (as_json) {
    JsonWriter json(output.buffer());
    write_explanation(json, answer, made, found);
  } else {
    output.write(
        explanation_text(answer, made, found, path ? Style(false) : Style::of_standard_output()));
  }
  output.commit();
  return ExitCode::done;
}

}  // namespace roofcast::cli
