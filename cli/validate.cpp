#include <fmt/format.h>

#include <cstdlib>

#include "cli/device.hpp"
#include "cli/files.hpp"
#include "cli/revision.hpp"
#include "cli/terminal.hpp"
#include "validation/shard.hpp"
#include "validation/suite.hpp"
#ifdef ROOFCAST_HAVE_CUDA
#include "validation/harness/harness.hpp"
#endif

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast validate --suite default -o run.json\n"
    "  roofcast validate --suite gemm --shard 0/4 -o shard0.json\n"
    "  roofcast validate --suite quick --no-counters -o quick.json\n",
    "roofcast validate [options]",
    "Measures a suite's kernels on this machine's GPU and writes the run case by case. Started "
    "again\n"
    "with the same file, it goes on where it stopped. In a Slurm job array each task takes its\n"
    "shard; `roofcast merge` joins them."};

constexpr std::string_view kDefaultSuite = "default";
constexpr std::string_view kDefaultOutput = "run.json";

std::vector<Option> option_table() {
  std::vector<Option> options = {
      {"suite", "NAME|FILE", "what to measure (default: default)"},
      {"output,o", "FILE", "the run file (default: run.json)"},
      {"shard", "I/N", "only part I of N, from 0 (default: the Slurm array's task)"},
      {"no-counters", "", "time only: read no hardware counters"},
      {"gpu", "NAME|PATH", "the specification (default: the one that fits the device)"},
      {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  return options;
}

validation::Suite read_suite(const std::string& name) {
  if (name.ends_with(".json")) return validation::parse_suite(name, read_file(name));
  return validation::find_suite(name);
}

validation::Shard read_shard(const Options& options) {
  if (const auto text = options.find("shard")) return validation::parse_shard(*text);
  return validation::slurm_shard([](const char* name) { return std::getenv(name); })
      .value_or(validation::Shard{});
}

#ifdef ROOFCAST_HAVE_CUDA

Gpu matching_device(const DeviceOptions& options) {
  std::vector<Gpu> known;
  for (const std::string_view name : device_names()) {
    known.push_back(load_device(std::string(name), options));
  }
  const validation::DeviceFacts facts = validation::current_device();
  if (const Gpu* match = validation::match_device(facts, known)) return *match;
  throw InputError(
      fmt::format("no specification fits this device (compute capability {}, {} SMs): "
                  "add one (hw_specs/README.md) or name one with --gpu",
                  facts.compute_capability, facts.sm_count));
}

std::string progress_label(const validation::Progress& progress) {
  if (!progress.remaining_s) return progress.label;
  return fmt::format("{} ({:.0f} s left)", progress.label, *progress.remaining_s);
}

ExitCode measure(const validation::Suite& suite, const validation::Shard& shard,
                 const Options& options) {
  try {
    const DeviceOptions device = read_device_options(options);
    const Gpu gpu = options.has("gpu") ? load_device(read_device_names(options).front(), device)
                                       : matching_device(device);
    validation::HarnessOptions harness;
    harness.output = options.get("output", kDefaultOutput);
    harness.build = version_text();
    harness.shard = shard;
    harness.counters = !options.has("no-counters");
    harness.notice = [](const std::string& text) { warn(text); };
    validation::HarnessResult result;
    {
      Progress bar(suite.name);
      harness.progress = [&bar](const validation::Progress& progress) {
        bar.update(progress.done, progress.total, progress_label(progress));
      };
      result = validation::run_suite(suite, gpu, harness);
    }
    for (const validation::Failure& failure : result.run.failures) {
      warn(fmt::format("{} gave no measurement: {}", failure.kernel, failure.reason));
    }
    fmt::print(stderr, "{}: {} cases measured, {} found in the file, {} failed\n", harness.output,
               result.measured, result.resumed, result.run.failures.size());
    if (result.interrupted) return ExitCode::interrupted;
    return result.run.failures.empty() ? ExitCode::done : ExitCode::out_of_tolerance;
  } catch (const validation::NoDevice& error) {
    throw NoGpuError(error.what());
  }
}

#else

ExitCode measure(const validation::Suite& /*suite*/, const validation::Shard& /*shard*/,
                 const Options& /*options*/) {
  throw NoGpuError(
      "this program was built without CUDA and cannot measure: build it where the CUDA Toolkit is "
      "(cmake -DROOFCAST_CUDA=ON), on a machine with a GPU");
}

#endif

}  // namespace

ExitCode run_validate(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  if (wants_help(arguments)) {
    write_output(std::nullopt, help_text(kHelp, known));
    return ExitCode::done;
  }
  const SplitArguments split = split_words(arguments, known);
  const Options options = parse_options(split.options, known);
  if (!split.words.empty()) {
    throw UsageError(fmt::format("'{}' stands alone: name a suite with --suite", split.words[0]));
  }
  const validation::Suite suite = read_suite(options.get("suite", kDefaultSuite));
  return measure(suite, read_shard(options), options);
}

}  // namespace roofcast::cli
