#include "validation/comparison/compare.hpp"

#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/input/table_query.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/comparison_output.hpp"
#include "cli/output/files.hpp"
#include "reports/chart.hpp"
#include "validation/comparison/table.hpp"
#include "validation/comparison/tolerance.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::cli {
namespace {

constexpr std::array<std::string_view, 2> kPlots = {"times", "errors"};

std::vector<validation::Tolerance> read_tolerances(const Options& options) {
  std::vector<validation::Tolerance> tolerances;
  for (const std::string& text : options.all("tolerance")) {
    const bool bare = text.find('=') == std::string::npos;
    tolerances.push_back(validation::parse_tolerance(bare ? fmt::format("all={}", text) : text));
  }
  return tolerances;
}

std::optional<LaunchMode> read_launch(const Options& options) {
  const auto launch = options.find("launch");
  return launch ? std::optional(parse_launch(*launch)) : std::nullopt;
}

double read_launch_s(const std::string& text) {
  const auto microseconds = validation::number_of<double>(text);
  if (!microseconds || *microseconds < 0) {
    throw UsageError("--launch-us takes microseconds of at least 0 such as 24, not '{}'", text);
  }
  return *microseconds * 1e-6;
}

validation::Comparison compare_published(const std::string& file, const Options& options,
                                         Devices& devices) {
  validation::TableQuery query = read_table_query(options, devices);
  query.launch = read_launch(options);
  if (const auto launch = options.find("launch-us")) query.launch_s = read_launch_s(*launch);
  const validation::Table table = validation::parse_table(file, read_file(file), query);
  if (!table.ignored_columns.empty()) {
    warn(fmt::format("columns not used: {}", fmt::join(table.ignored_columns, ", ")));
  }
  return validation::compare_table(file, table,
                                   [&](std::string_view name) { return devices.find(name); });
}

std::string output_text(std::string_view format,
                        const std::vector<validation::Comparison>& comparisons,
                        const Style& style) {
  if (format == "json") return comparison_json(comparisons);
  if (format == "csv") return comparison_csv(comparisons);
  std::string text;
  for (const auto& comparison : comparisons) {
    if (!text.empty()) text += '\n';
    text += comparison_text(comparison, style);
  }
  return text;
}

void write_comparison_chart(const std::vector<validation::Comparison>& comparisons,
                            const Options& options) {
  const std::string_view plot = one_of("--plot", options.get("plot", kPlots.front()), kPlots);
  if (comparisons.size() != 1) throw UsageError("a chart shows one run: name one");
  const validation::Comparison& comparison = comparisons.front();
  const auto draw = [&](bool narrow) {
    if (plot == "errors") {
      return reports::error_chart(comparison,
                                  narrow ? reports::kNarrowFrame : reports::kErrorWidth);
    }
    return reports::predicted_measured_chart(comparison,
                                             narrow ? reports::kNarrowFrame : reports::kTimesWidth);
  };
  write_chart(fmt::format("Predicted against measured: {}", comparison.device), draw(false),
              options.find("output"), [&] { return draw(true); });
}

}  // namespace

Manual manual_compare() {
  return {
      .examples =
          R"(  roofcast compare run.json
  roofcast compare validation/measured/*-random1-*.json --tolerance gemm=15% --tolerance all=10%
  roofcast compare run.json --datasheet --format csv -o cases.csv
  roofcast compare run.json --plot errors -o errors.svg
  roofcast compare --table published.csv --kernel elementwise.relu.fused --where op=relu \
                   --column n=rows*cols --gpu v100-pcie-32gb --launch-us 24
  roofcast compare --table validation/measured/h200-sxm-cublas-layouts-2026-11-23b.csv \
                   --kernel gemm.library --gpu h200-sxm --column weight_copies=1 --launch graph
)",
      .usage =
          "roofcast compare RUN.json... [options]\n"
          "       roofcast compare --table FILE.csv --kernel KERNEL [options]",
      .about =
          R"(Forecasts every measured case again and shows the error by family and regime, the worst
cases and every measurement faster than its limit. Exits with 1 if there is one of
those, a case failed, the run is incomplete, or a group's mean absolute error is above
its --tolerance. With a chart as output, predicted against measured, or the ratio of
the two by family and regime.)",
      .options = with_device_options(joined(
          {{{"gpu", "NAME|PATH", "use this specification; with --table, only its rows"},
            {"format", "table|json|csv",
             "output format (default: as the output's name ends, else table); csv lists every "
             "case"},
            {"plot", "CHART",
             fmt::format("the chart: {} (default: times)", fmt::join(kPlots, ", "))},
            {"output,o", "FILE", "write there; or a chart: chart.html, chart.svg, chart.png"},
            {"tolerance", "[GROUP=]SHARE",
             "largest mean absolute error of time: 0.1, gemm=10%, memory=0.08 (repeatable)", true},
            {"table", "FILE.csv",
             "published measurements: kernel parameters, gpu, dtype, time_us (else the column of "
             "--cache, as cold_us)"},
            {"launch", "stream|graph|pdl",
             "how the kernels were launched (default: stream; graph where the cache is steady)"}},
           table_options(),
           {{"launch-us", "MICROSECONDS",
             "what timing a launch took in the table, in place of the GPU's own cost"},
            {"help,h", "", "this text"}}}))};
}

ExitCode run_compare(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_compare());
  const std::string_view format = read_format(options, {"table", "json", "csv"});
  const auto tolerances = read_tolerances(options);
  const auto table = options.find("table");
  if (words.empty() && !table) {
    throw UsageError("which run? For example: roofcast compare run.json");
  }
  std::vector<std::string> of_table = {"launch-us"};
  for (const Option& option : table_options()) of_table.push_back(option.name);
  for (const std::string& option : of_table) {
    if (options.has(option) && !table) {
      throw UsageError("--{} belongs to --table", option);
    }
  }

  Devices devices(read_device_options(options));
  std::vector<validation::Comparison> comparisons;
  for (const std::string& file : words) {
    const validation::Run run = validation::parse_run(file, read_file(file));
    comparisons.push_back(validation::compare(run, devices.get(device_of_run(file, run, options)),
                                              read_launch(options)));
  }
  if (table) comparisons.push_back(compare_published(*table, options, devices));

  if (options.has("plot") || is_picture(options.get("output", ""))) {
    write_comparison_chart(comparisons, options);
  } else {
    const auto path = options.find("output");
    write_output(path, output_text(format, comparisons, Style::of_output(path)));
  }
  bool kept = true;
  for (const auto& comparison : comparisons) {
    for (const std::string& breach : validation::breaches(comparison, tolerances)) {
      warn(breach);
      kept = false;
    }
  }
  return kept ? ExitCode::done : ExitCode::out_of_tolerance;
}

}  // namespace roofcast::cli
