#include <fmt/format.h>

#include "cli/input/validation_request.hpp"
#include "cli/measure/measure.hpp"
#include "cli/output/terminal.hpp"
#include "cli/revision.hpp"
#include "validation/harness/harness.hpp"

namespace roofcast::cli {
namespace {

std::string progress_label(const validation::Progress& progress) {
  if (!progress.remaining_s) return progress.label;
  return fmt::format("{} ({:.0f} s left)", progress.label, *progress.remaining_s);
}

ExitCode measure(const ValidationRequest& request) {
  const Options& options = request.options;
  const Gpu gpu = device_at_hand(options, read_device_options(options));
  const validation::Suite suite = request.suite_for(gpu);
  validation::HarnessOptions harness;
  harness.output = request.output;
  harness.build = version_text();
  harness.shard = request.shard;
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
  tell(fmt::format("{}: {} cases measured, {} found in the file, {} failed", harness.output,
                   result.measured, result.resumed, result.run.failures.size()));
  if (result.stopped_by) return static_cast<ExitCode>(128 + *result.stopped_by);
  return result.run.failures.empty() ? ExitCode::done : ExitCode::out_of_tolerance;
}

}  // namespace

ExitCode measure_suite(const Arguments& arguments) {
  const auto request = read_validation_request(arguments);
  return request ? measure(*request) : ExitCode::done;
}

}  // namespace roofcast::cli
