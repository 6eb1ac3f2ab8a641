// The program that `roofcast validate` and `roofcast calibrate` become: only it links with CUDA.
#include <fmt/format.h>

#include "cli/measure/measure.hpp"
#include "cli/output/signals.hpp"
#include "validation/harness/device_record.hpp"

namespace roofcast::cli {
namespace {

ExitCode measure(const Arguments& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  try {
    if (command == "validate") return measure_suite(rest);
    if (command == "calibrate") return measure_calibration(rest);
  } catch (const harness::NoDevice& error) {
    throw NoGpuError(error.what());
  }
  throw UsageError(
      "this program measures for `roofcast validate` and `roofcast calibrate`: run those");
}

}  // namespace

Gpu device_at_hand(const Options& options, const DeviceOptions& how) {
  if (options.has("gpu")) return load_device(read_device_name(options), how);
  std::vector<Gpu> known;
  for (const std::string_view name : device_names()) {
    known.push_back(load_device(std::string(name), how));
  }
  const validation::DeviceFacts facts = harness::device_facts();
  if (const Gpu* match = validation::match_device(facts, known)) return *match;
  throw InputError(
      fmt::format("no specification fits this device (compute capability {}, {} SMs): "
                  "add one (hw_specs/README.md) or name one with --gpu",
                  facts.compute_capability, facts.sm_count));
}

}  // namespace roofcast::cli

int main(int argc, char** argv) {
  using roofcast::cli::ExitCode;
  roofcast::cli::prepare_process();
  const roofcast::cli::Arguments arguments(argv + 1, argv + argc);
  return static_cast<int>(roofcast::cli::with_errors_reported(
      [&arguments] { return roofcast::cli::measure(arguments); }));
}
