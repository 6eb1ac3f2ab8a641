#include "cli/input/calibration_request.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/opening.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {

Manual manual_calibrate() {
  return {
      .examples =
          "  roofcast calibrate -o overlay.json\n"
          "  roofcast calibrate --keep hw_specs/calibration/h200-sxm.json -o overlay.json\n"
          "  roofcast predict stream.copy --n 1e8 --gpu h200-sxm --overlay overlay.json\n",
      .usage = "roofcast calibrate [options]",
      .about =
          R"(Measures with microbenchmarks what this machine's GPU keeps up and writes it as the
overlay of its specification: latencies, bandwidths, rates of the pipes, cost of
launches. Values above the datasheet's peaks are refused with a message, and the exit
code is then 1. Takes less than three minutes; run it on an idle GPU.)",
      .options = {
          {"output,o", "FILE", "the overlay (default: overlay.json)"},
          {"curves", "FILE", "every curve measured, as JSON (default: OVERLAY.curves.json)"},
          {"keep", "OVERLAY", "take from this overlay what is not measured, e.g. fitted values"},
          {"force", "", "replace files that are there already"},
          {"gpu", "NAME|PATH", "the specification (default: the one that fits the device)"},
          {"help,h", "", "this text"}}};
}

namespace {

std::string curves_beside(const std::string& overlay) {
  constexpr std::string_view kEnding = ".json";
  const bool ends = overlay.ends_with(kEnding);
  return overlay.substr(0, overlay.size() - (ends ? kEnding.size() : 0)) + ".curves.json";
}

void refuse_overwriting(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return;
  throw InputError(fmt::format(
      "{} is there already: name another file with -o, or replace it with --force", path));
}

}  // namespace

CalibrationRequest read_calibration_request(const Arguments& arguments) {
  auto [words, options] = read_arguments(arguments, manual_calibrate());
  if (!words.empty()) {
    throw UsageError("'{}' stands alone: name the overlay with -o", words[0]);
  }
  CalibrationRequest request;
  request.options = std::move(options);
  request.output = request.options.get("output", "overlay.json");
  if (request.output == "-" || request.options.get("curves", "") == "-") {
    throw UsageError("standard output takes the table: name files with -o and --curves");
  }
  request.curves = request.options.get("curves", curves_beside(request.output));
  request.keep = request.options.get("keep", "");
  if (!request.options.has("force")) {
    refuse_overwriting(request.output);
    refuse_overwriting(request.curves);
  }
  return request;
}

}  // namespace roofcast::cli
