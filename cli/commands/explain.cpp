#include "cli/commands/opening.hpp"
#include "cli/commands/sensitivity.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/explanation.hpp"
#include "cli/output/json_or_text.hpp"
#include "reports/chart.hpp"
#include "reports/forecast_charts.hpp"

namespace roofcast::cli {
namespace {

constexpr double kChartWidth = 720;
constexpr std::array<std::string_view, 3> kPlots = {"parts", "timeline", "traffic"};

std::string drawn(std::string_view plot, const std::vector<reports::NamedForecast>& forecasts,
                  double width) {
  if (plot == "timeline") return reports::timeline_chart(forecasts, width);
  if (plot == "traffic") return reports::traffic_chart(forecasts, width);
  return reports::parts_chart(forecasts, width);
}

}  // namespace

Manual manual_explain() {
  return {
      .examples =
          "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm\n"
          "  roofcast explain softmax.online --rows 4096 --cols 8192 --dtype bf16 --gpu "
          "a100-sxm4-80gb --format json\n"
          "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm -o "
          "parts.svg\n"
          "  roofcast explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm --plot "
          "traffic -o traffic.html\n",
      .usage = "roofcast explain KERNEL [options]",
      .about =
          R"(Why a forecast is what it is: the parts that add up to the time, each resource's amount
divided by its rate, the blocks over the SMs, and every value of the GPU that the time
hangs on, with its source: by how much the time changes where the value is a tenth
larger. With a chart as output, the parts as a picture, the blocks over the SMs, or the
bytes at each level of memory.)",
      .options = with_forecast_options(
          {{"gpu", "NAME|PATH", "the device", true},
           {"dtype", "TYPE", "element type: fp64, fp32, tf32, fp16, bf16 … (default: fp32)"},
           {"format", "table|json",
            "output format (default: as the output's name ends, else table)"},
           {"plot", "CHART",
            fmt::format("the chart: {} (default: parts)", fmt::join(kPlots, ", "))},
           {"output,o", "FILE", "write there; or a chart: chart.html, chart.svg, chart.png"},
           {"help,h", "", "this text"}})};
}

ExitCode run_explain(const Arguments& arguments) {
  const auto [kernels, options] = read_kernels(arguments, manual_explain());
  if (kernels.size() != 1 || kernels.front().kernel == nullptr) {
    throw UsageError(
        "explain takes one kernel, as gemm.tiled: `roofcast kernels` lists them. For example: "
        "roofcast explain gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm");
  }

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
  write_json_or_text(
      options, [&](JsonWriter& json) { write_explanation(json, answer, made, found); },
      [&](const Style& style) { return explanation_text(answer, made, found, style); });
  return ExitCode::done;
}

}  // namespace roofcast::cli
