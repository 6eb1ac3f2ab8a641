#include <fmt/format.h>

#include "cli/input/calibration_request.hpp"
#include "cli/measure/measure.hpp"
#include "cli/output/calibration_text.hpp"
#include "cli/output/files.hpp"
#include "cli/output/terminal.hpp"
#include "cli/revision.hpp"
#include "validation/calibration/curve_limits.hpp"
#include "validation/calibration/microbench/calibrate.hpp"
#include "validation/calibration/sustained_values.hpp"

namespace roofcast::cli {
namespace {

validation::Measurements measure(const Gpu& gpu) {
  validation::CalibrateOptions options;
  options.gpu = gpu.name;
  options.build = version_text();
  Progress bar("calibrate");
  options.progress = [&bar](std::size_t done, std::size_t total, std::string_view what) {
    stop_if_interrupted();
    bar.update(done, total, what);
  };
  return validation::run_microbenchmarks(options);
}

// Reads the overlay of --keep; throws where it breaks a rule of hw_specs for the device.
validation::Overlay read_kept(const CalibrationRequest& request, const std::string& device) {
  DeviceOptions checked;
  checked.overlay_file = request.keep;
  (void)load_device(device, checked);
  return validation::parse_overlay(request.keep, read_file(request.keep));
}

}  // namespace

ExitCode measure_calibration(const Arguments& arguments) {
  const CalibrationRequest request = read_calibration_request(arguments);
  const Options& options = request.options;
  DeviceOptions datasheet;
  datasheet.datasheet = true;
  const Gpu gpu = device_at_hand(options, datasheet);
  std::optional<validation::Overlay> kept;
  if (!request.keep.empty()) kept = read_kept(request, options.get("gpu", gpu.name));

  validation::Measurements measured = measure(gpu);
  validation::refuse_impossible(measured, gpu);
  write_output(request.curves, validation::to_json(measured));
  write_output(std::nullopt, curves_text(measured, Style::of_standard_output()));
  validation::Calibration found = validation::to_calibration(measured, request.curves, gpu);
  if (kept) validation::keep_missing(found.overlay, *kept);
  write_output(std::nullopt, overlay_text(found.overlay, Style::of_standard_output()));
  write_output(request.output, validation::to_json(found.overlay));
  for (const validation::RefusedValue& one : measured.refused) {
    warn(fmt::format("{}, {}: {:.6g} {} was refused: {}", one.curve.microbenchmark,
                     one.curve.series, one.point.value, one.curve.unit, one.reason));
  }
  for (const validation::Refusal& one : found.refused) {
    warn(fmt::format("{} came out as {:.6g} and was refused: {}. It is not in {}", one.key,
                     one.value, one.reason, request.output));
  }
  tell(fmt::format("{}: {} values; every curve is in {}", request.output,
                   found.overlay.values.size(), request.curves));
  const bool refused = !measured.refused.empty() || !found.refused.empty();
  return refused ? ExitCode::out_of_tolerance : ExitCode::done;
}

}  // namespace roofcast::cli
