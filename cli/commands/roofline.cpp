#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "cli/output/roofline_text.hpp"
#include "reports/chart.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::cli {

Manual manual_roofline() {
  return {
      .examples =
          "  roofcast roofline --gpu h100-sxm5 --kernel gemm.tiled --m 4096 --n 4096 --k 4096 -o "
          "roof.html\n"
          "  roofcast roofline --gpu v100-sxm2 --kernel gemm.tiled:m=4096,n=4096,k=4096 \\\n"
          "                    --kernel stream.copy:n=268435456 -o roof.svg\n"
          "  roofcast roofline --gpu p100,b200 --kernel gemm --m 4096 --n 4096 --k 4096 --format "
          "table\n"
          "  roofcast roofline --run run.json -o measured.html\n",
      .usage = "roofcast roofline --gpu NAME [--kernel KERNEL...] [--run RUN.json] -o FILE",
      .about =
          R"(Draws the roofs of a device, or of several in one frame, and the kernels under them;
with a run, predicted and measured points. The output's name says the format: .html
opens offline, .json is Vega-Lite, .svg and .png need Node. A kernel's shape stands
behind its name, or as options for all of them. --format table prints the roofs and the
points.)",
      .options = with_forecast_options(
          {{"gpu", "NAME|PATH",
            "the device, or a comma-separated list (default with --run: the run's)", true},
           {"kernel", "KERNEL[:m=M,n=N]", "a kernel to place, or a family's limit (repeatable)",
            true},
           {"run", "FILE", "place every case of this run, predicted and measured"},
           {"dtype", "TYPE", "element type (default: fp32)"},
           {"format", "chart|table", "what is written (default: chart); table: as text"},
           {"output,o", "FILE", "chart.html, chart.svg, chart.png or chart.json"},
           {"help,h", "", "this text"}})};
}

namespace {

/// A value of --kernel, "gemm.tiled:m=4096,dtype=fp32"; a text with commas is in double quotes.
struct PlacedKernel {
  KernelRef kernel;
  std::vector<std::pair<std::string, std::string>> own;
};

/// Splits at the commas outside double quotes and removes the quotes; inside them a backslash keeps
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
  if (quoted) throw UsageError("--kernel {}: a double quote is missing", text);
  return parts;
}

PlacedKernel read_kernel(const std::string& text) {
  const std::size_t colon = text.find(':');
  PlacedKernel placed{kernel_named(text.substr(0, colon)), {}};
  if (colon == std::string::npos) return placed;
  for (const std::string& pair : split_quoted(text.substr(colon + 1))) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      throw UsageError("--kernel {}: '{}' is no name=value", text, pair);
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

/// Reads the kernels before the options are checked: the kernels' parameters are options too.
std::vector<PlacedKernel> find_kernels(const Arguments& options) {
  Arguments texts;
  constexpr std::string_view kOption = "--kernel";
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == kOption && i + 1 < options.size()) {
      texts.push_back(options[++i]);
    } else if (options[i].starts_with("--kernel=")) {
      texts.push_back(options[i].substr(kOption.size() + 1));
    }
  }
  std::vector<PlacedKernel> kernels;
  for (const std::string& text : distinct(kOption, std::move(texts))) {
    kernels.push_back(read_kernel(text));
  }
  return kernels;
}

}  // namespace

ExitCode run_roofline(const Arguments& arguments) {
  const Manual manual = manual_roofline();
  const SplitArguments split = split_words(arguments, manual.options);
  const std::vector<PlacedKernel> kernels = find_kernels(split.options);
  std::vector<KernelRef> found;
  found.reserve(kernels.size());
  for (const PlacedKernel& placed : kernels) found.push_back(placed.kernel);
  const Options options = read_options(split, manual, found);
  if (!split.words.empty()) {
    throw UsageError("'{}' stands alone: name kernels with --kernel", split.words[0]);
  }
  std::optional<validation::Run> run;
  if (const auto path = options.find("run")) run = validation::parse_run(*path, read_file(*path));
  const std::vector<std::string> names =
      run ? std::vector{device_of_run(*options.find("run"), *run, options)}
          : read_device_names(options);
  const bool table = read_format(options, {"chart", "table"}) == "table";
  std::vector<Gpu> gpus;
  gpus.reserve(names.size());
  for (const std::string& name : names) {
    gpus.push_back(load_device(name, read_device_options(options)));
  }
  const Assumptions assumptions = read_assumptions(options);

  std::vector<reports::DevicePoints> devices;
  std::size_t count = 0;
  for (const Gpu& gpu : gpus) {
    devices.push_back({&gpu, {}});
    for (const PlacedKernel& placed : kernels) {
      try {
        devices.back().points.push_back(predicted_point(placed, options, gpu, assumptions));
      } catch (const InputError& error) {
        // With several devices, a kernel that one of them cannot run is left out there.
        if (gpus.size() == 1) throw;
        warn(fmt::format("{}: {}", gpu.name, error.what()));
      }
    }
    count += devices.back().points.size();
  }
  if (run) {
    for (const validation::Row& row : validation::compare(*run, gpus.front()).rows) {
      devices.front().points.push_back(reports::roofline_point(row, gpus.front()));
      ++count;
    }
  }
  reports::check_points(count);
  if (table) {
    const Style style = Style::of_output(options.find("output"));
    write_output(options.find("output"), roofline_text(devices, style));
    return ExitCode::done;
  }
  std::string title;
  for (const Gpu& gpu : gpus) title += (title.empty() ? "" : ", ") + gpu.title;
  write_chart(fmt::format("Roofline of {}", title), reports::rooflines_chart(devices),
              options.find("output"),
              [&devices] { return reports::rooflines_chart(devices, reports::kNarrowFrame); });
  return ExitCode::done;
}

}  // namespace roofcast::cli
