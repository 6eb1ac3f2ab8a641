// `roofcast validate` as a program of its own: the one that is linked with CUDA.
#include <fmt/format.h>

#include "cli/device.hpp"
#include "cli/revision.hpp"
#include "cli/terminal.hpp"
#include "cli/validation_request.hpp"
#include "validation/harness/harness.hpp"

namespace roofcast::cli {
namespace {

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

ExitCode measure(const ValidationRequest& request) {
  try {
    const Options& options = request.options;
    const DeviceOptions device = read_device_options(options);
    const Gpu gpu = options.has("gpu") ? load_device(read_device_names(options).front(), device)
                                       : matching_device(device);
    validation::HarnessOptions harness;
    harness.output = request.output;
    harness.build = version_text();
    harness.shard = request.shard;
    harness.counters = !options.has("no-counters");
    harness.notice = [](const std::string& text) { warn(text); };
    validation::HarnessResult result;
    {
      Progress bar(request.suite.name);
      harness.progress = [&bar](const validation::Progress& progress) {
        bar.update(progress.done, progress.total, progress_label(progress));
      };
      result = validation::run_suite(request.suite, gpu, harness);
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

}  // namespace
}  // namespace roofcast::cli

int main(int argc, char** argv) {
  using roofcast::cli::ExitCode;
  roofcast::cli::catch_signals();
  const roofcast::cli::Arguments arguments(argv + 1, argv + argc);
  return static_cast<int>(roofcast::cli::with_errors_reported([&arguments] {
    const auto request = roofcast::cli::read_validation_request(arguments);
    return request ? roofcast::cli::measure(*request) : ExitCode::done;
  }));
}
