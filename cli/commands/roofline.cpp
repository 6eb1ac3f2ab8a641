#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/distinct_files.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "reports/chart.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast roofline --gpu h100-sxm5 --kernel gemm.tiled --m 4096 --n 4096 --k 4096 -o "
    "roof.html\n"
    "  roofcast roofline --gpu v100-sxm2 --kernel gemm.tiled:m=4096,n=4096,k=4096 \\\n"
    "                    --kernel stream.copy:n=268435456 -o roof.svg\n"
    "  roofcast roofline --run run.json -o measured.html\n",
    "roofcast roofline --gpu NAME [--kernel KERNEL...] [--run RUN.json] -o FILE",
    "Draws the roofs of a device and the kernels under them; with a run, predicted and measured\n"
    "points. The output's name says the format: .html opens offline, .json is Vega-Lite, .svg and\n"
    ".png need Node. A kernel's shape stands behind its name, or as options for all of them."};

std::vector<Option> common_options() {
  return with_forecast_options(
      {{"gpu", "NAME|PATH", "the device (default with --run: the run's)"},
       {"kernel", "KERNEL[:m=M,n=N]", "a kernel to place, or a family's limit (repeatable)", true},
       {"run", "FILE", "place every case of this run, predicted and measured"},
       {"dtype", "TYPE", "element type (default: fp32)"},
       {"output,o", "FILE", "chart.html, chart.svg, chart.png or chart.json"},
       {"help,h", "", "this text"}});
}

/// "gemm.tiled:m=4096,dtype=fp32"; a text with commas is in double quotes.
struct PlacedKernel {
  KernelRef kernel;
  std::vector<std::pair<std::string, std::string>> own;
};

/// Parted at the commas outside double quotes, the quotes removed; inside them a backslash keeps
/// the next character as it is.
std::vector<std::string> split_quoted(const std::string& text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      if (text[i] == '\\' && quoted && i + 1 < text.size()) ++i;
      parts.back() += text[i];
    }
  }
  if (quoted) throw UsageError(fmt::format("--kernel {}: a double quote is missing", text));
  return parts;
}

PlacedKernel read_kernel(const std::string& text) {
  const std::size_t colon = text.find(':');
  PlacedKernel placed{kernel_named(text.substr(0, colon)), {}};
  if (colon == std::string::npos) return placed;
  for (const std::string& pair : split_quoted(text.substr(colon + 1))) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      throw UsageError(fmt::format("--kernel {}: '{}' is no name=value", text, pair));
    }
    placed.own.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  std::vector<std::string_view> known = {"dtype"};
  for (const Parameter& parameter : placed.kernel.parameters()) known.push_back(parameter.name);
  for (const auto& entry : placed.own)
    one_of(fmt::format("a parameter of {}", text), entry.first, known);
  return placed;
}

reports::RooflinePoint predicted_point(const PlacedKernel& placed, Options options, const Gpu& gpu,
                                       const Assumptions& assumptions) {
  for (const auto& [name, value] : placed.own) options.add(name, {value});
  const Problem problem = read_problem(options, placed.kernel);
  const Prediction prediction = predict(placed.kernel, problem, gpu, assumptions);
  reports::RooflinePoint point = reports::roofline_point(placed.kernel, prediction);
  if (point.predicted_flops_per_s <= 0 && point.dram_bytes_per_s <= 0) {
    warn(fmt::format("{} has no place on the chart: it computes and moves nothing", point.label));
  }
  return point;
}

/// The kernels are read before the options are: they bring their parameters.
std::vector<PlacedKernel> find_kernels(const Arguments& options) {
  std::vector<PlacedKernel> kernels;
  constexpr std::string_view kOption = "--kernel";
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == kOption && i + 1 < options.size()) {
      kernels.push_back(read_kernel(options[++i]));
    } else if (options[i].starts_with("--kernel=")) {
      kernels.push_back(read_kernel(options[i].substr(kOption.size() + 1)));
    }
  }
  return kernels;
}

}  // namespace

Manual manual_roofline() {
  return {kHelp, common_options()};
}

ExitCode run_roofline(const Arguments& arguments) {
  std::vector<Option> known = common_options();
  const SplitArguments split = split_words(arguments, known);
  const std::vector<PlacedKernel> kernels = find_kernels(split.options);
  std::vector<KernelRef> found;
  found.reserve(kernels.size());
  for (const PlacedKernel& placed : kernels) found.push_back(placed.kernel);
  for (auto& option : parameter_options(found, "N")) known.push_back(std::move(option));
  if (writes_help(arguments, kHelp, known)) return ExitCode::done;
  const Options options = parse_options(split.options, known);
  refuse_output_over_input(options, known, split.words);
  if (!split.words.empty()) {
    throw UsageError(fmt::format("'{}' stands alone: name kernels with --kernel", split.words[0]));
  }
  std::optional<validation::Run> run;
  if (const auto path = options.find("run")) run = validation::parse_run(*path, read_file(*path));
  const std::string device_name =
      run ? device_of_run(*options.find("run"), *run, options) : read_device_name(options);
  const Gpu gpu = load_device(device_name, read_device_options(options));
  const Assumptions assumptions = read_assumptions(options);

  std::vector<reports::RooflinePoint> points;
  points.reserve(kernels.size());
  for (const PlacedKernel& placed : kernels) {
    points.push_back(predicted_point(placed, options, gpu, assumptions));
  }
  if (run) {
    for (const validation::Row& row : validation::compare(*run, gpu).rows) {
      points.push_back(reports::roofline_point(row));
    }
  }
  reports::check_points(points.size());
  write_chart(fmt::format("Roofline of {}", gpu.title), reports::roofline_chart(gpu, points),
              options.find("output"));
  return ExitCode::done;
}

}  // namespace roofcast::cli
