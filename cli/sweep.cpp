#include <algorithm>

#include "cli/answer.hpp"
#include "cli/device.hpp"
#include "cli/files.hpp"
#include "cli/kernel_options.hpp"
#include "cli/sweep_axis.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast sweep gemm.tiled --m 256:8192:256 --n =m --k =m --gpu a100-sxm4-80gb -o sweep.csv\n"
    "  roofcast sweep stream.copy --n 65536:1073741824:*2 --gpu h100-sxm5,h200-sxm -o copy.json\n"
    "  roofcast sweep gemm.tiled gemm.coarsened_2d --m 1024,4096 --n =m --k =m --gpu v100-sxm2\n",
    "roofcast sweep KERNEL... [options]",
    "Forecasts every combination of the values given. A parameter takes a number, a list a,b,c, a\n"
    "range lo:hi:step or lo:hi:*factor, or =PARAMETER to follow another one; one with choices "
    "takes a\n"
    "list of names."};

std::vector<Option> common_options() {
  std::vector<Option> options = {
      {"gpu", "NAME|PATH", "the device, or a comma-separated list", true},
      {"dtype", "TYPE", "element type, or a comma-separated list (default: fp32)"},
      {"format", "csv|json", "output format (default: as the output's name ends, else csv)"},
      {"output,o", "FILE", "write there instead of standard output"},
      {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  for (auto& option : assumption_options()) options.push_back(std::move(option));
  return options;
}

bool wants_csv(const Options& options) {
  constexpr std::array<std::string_view, 2> formats = {"csv", "json"};
  const std::string by_name = options.get("output", "").ends_with(".json") ? "json" : "csv";
  return one_of("--format", options.get("format", by_name), formats) == "csv";
}

/// One kernel's part of the sweep: its types, and an axis for each parameter given.
struct KernelSweep {
  Found kernel;
  std::vector<DType> dtypes;
  std::vector<Axis> axes;
  std::vector<std::size_t> positions;  ///< of each axis in the kernel's parameters
  Problem constants;                   ///< holds the text, where a parameter is one
  unsigned given = 0;
};

KernelSweep plan_sweep(const Found& kernel, const Options& options) {
  KernelSweep sweep;
  sweep.kernel = kernel;
  if (const auto list = options.find("dtype")) {
    for (const std::string& type : split_list(*list, ',')) {
      sweep.dtypes.push_back(read_dtype(type, kernel));
    }
  } else {
    sweep.dtypes.push_back(default_dtype(kernel));
  }
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto text = options.find(parameters[i].name);
    if (!text && !parameters[i].fallback) {
      throw UsageError(fmt::format("{} needs --{}: {}", kernel_name(kernel), parameters[i].name,
                                   parameters[i].meaning));
    }
    if (!text) continue;
    sweep.given |= 1U << i;
    if (parameters[i].is_text) {
      read_value(parameters[i], *text, sweep.constants, i);
      continue;
    }
    sweep.axes.push_back(parse_axis(parameters[i], *text));
    sweep.positions.push_back(i);
  }
  return sweep;
}

class SweepWriter {
 public:
  SweepWriter(Output& output, bool csv, std::vector<std::string> parameters)
      : output_(output),
        csv_(csv),
        json_(output.buffer()),
        table_(output.buffer(), std::move(parameters)) {
    if (csv_) {
      table_.header();
    } else {
      json_.begin_array();
      json_.newline();
    }
  }

  void answer(const Found& kernel, Problem problem, unsigned given, const Gpu& gpu,
              const Assumptions& assumptions) {
    separate();
    try {
      check(kernel, problem, given);
      const Prediction prediction = predict(kernel, problem, gpu, assumptions);
      const Answer answer{kernel, problem, gpu, prediction};
      if (csv_) {
        table_.row(answer);
      } else {
        write_json(json_, answer);
      }
    } catch (const InputError& error) {
      ++refused_;
      if (csv_) {
        table_.refused(kernel, problem, gpu, error.what());
      } else {
        write_refusal(json_, kernel, problem, gpu, error.what());
      }
    }
    ++written_;
    output_.flush_if_large();
  }

  void finish() {
    if (!csv_) output_.write("\n]\n");
    output_.commit();
  }
  std::size_t refused() const { return refused_; }

 private:
  /// The JSON writer sees a line's end and adds no comma.
  void separate() {
    if (!csv_ && written_ > 0) output_.write(",\n");
  }

  Output& output_;
  bool csv_;
  JsonWriter json_;
  CsvWriter table_;
  std::size_t written_ = 0;
  std::size_t refused_ = 0;
};

void sweep_kernel(const KernelSweep& sweep, const Gpu& gpu, const Assumptions& assumptions,
                  std::size_t repeats, SweepWriter& writer) {
  const Points points(sweep.axes, repeats);
  std::vector<std::int64_t> values(sweep.axes.size());
  for (const DType dtype : sweep.dtypes) {
    for (std::size_t index = 0; index < points.count(); ++index) {
      stop_if_interrupted();
      points.at(index, values);
      Problem problem = sweep.constants;
      problem.dtype = dtype;
      for (std::size_t i = 0; i < values.size(); ++i) problem[sweep.positions[i]] = values[i];
      writer.answer(sweep.kernel, problem, sweep.given, gpu, assumptions);
    }
  }
}

}  // namespace

ExitCode run_sweep(const Arguments& arguments) {
  std::vector<Option> known = common_options();
  const SplitArguments split = split_words(arguments, known);
  std::vector<Found> kernels;
  for (const std::string& word : split.words) kernels.push_back(kernel_named(word));
  for (auto& option : parameter_options(kernels, "VALUES")) known.push_back(std::move(option));
  if (wants_help(arguments)) {
    write_output(std::nullopt, help_text(kHelp, known));
    return ExitCode::done;
  }
  const Options options = parse_options(split.options, known);
  if (kernels.empty()) throw UsageError("which kernel? `roofcast kernels` lists them");
  const bool csv = wants_csv(options);
  const DeviceOptions device = read_device_options(options);
  const Assumptions assumptions = read_assumptions(options);
  std::vector<Gpu> gpus;
  for (const std::string& gpu : read_device_names(options)) {
    gpus.push_back(load_device(gpu, device));
  }
  std::vector<KernelSweep> sweeps;
  std::size_t repeats = 0;
  for (const Found& kernel : kernels) {
    sweeps.push_back(plan_sweep(kernel, options));
    repeats += sweeps.back().dtypes.size() * gpus.size();
  }
  // Refuse a sweep too large before any output exists.
  for (const KernelSweep& sweep : sweeps) Points(sweep.axes, repeats);

  Output output(options.find("output"));
  SweepWriter writer(output, csv, parameter_names(kernels));
  for (const Gpu& gpu : gpus) {
    for (const KernelSweep& sweep : sweeps) {
      sweep_kernel(sweep, gpu, assumptions, repeats, writer);
    }
  }
  writer.finish();
  if (writer.refused() == 0) return ExitCode::done;
  warn(fmt::format("{} points have no forecast: the output says why", writer.refused()));
  return ExitCode::bad_input;
}

}  // namespace roofcast::cli
