#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/numbers.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "cli/output/profile_output.hpp"
#include "reports/profile_page.hpp"
#include "validation/profiles/read_profile.hpp"

namespace roofcast::cli {

Manual manual_import() {
  return {
      .examples =
          "  roofcast import examples/traces/gpt2_step.json.gz --gpu h100-sxm5\n"
          "  roofcast import examples/profiles/layer_ncu.csv --gpu h100-sxm5 --format json\n"
          "  roofcast import examples/traces/gpt2_step.json.gz --gpu h100-sxm5 -o page.html\n",
      .usage = "roofcast import FILE... --gpu NAME [options]",
      .about =
          R"(Reads a trace of torch.profiler (export_chrome_trace with record_shapes=True, plain or
gzip) or tables of Nsight Compute (ncu --csv --page raw with time and launch
statistics; several files are passes over the same kernels). What was not recognized is
said first, then what to change first with the time that each change leaves, then every
kernel beside its limit and forecast.)",
      .options = with_device_options(
          {{"gpu", "NAME|PATH", "the device that the profile is of"},
           {"device", "N", "of a profile of several devices, the one to read"},
           {"rows", "N", "kernels listed (default: 20)"},
           {"format", "table|json|csv",
            "output format (default: as the output's name ends, else table)"},
           {"output,o", "FILE",
            "write there instead of standard output; .html is a page, .svg and .png its roofline"},
           {"help,h", "", "this text"}})};
}

namespace {

std::optional<int> read_device_number(const Options& options) {
  const auto text = options.find("device");
  if (!text) return std::nullopt;
  const std::int64_t number = parse_whole("--device", *text);
  constexpr std::int64_t kMost = 1023;
  if (number < 0 || number > kMost) {
    throw UsageError("--device takes 0 to {}, not {}", kMost, *text);
  }
  return static_cast<int>(number);
}

// Times measured on another device cannot be compared with this device's forecasts.
void warn_of_other_device(const validation::Trace& trace, const Gpu& gpu) {
  if (!gpu.compute_capability || trace.compute_capability.empty()) return;
  const std::string own = text(*gpu.compute_capability);
  if (trace.compute_capability == own) return;
  warn(fmt::format("the profile is of a device of compute capability {}, {} has {}",
                   trace.compute_capability, gpu.name, own));
}

void write_picture(const validation::Profile& profile, const Gpu& gpu, const std::string& file,
                   const std::string& path) {
  if (std::filesystem::path(path).extension() == ".html") {
    return write_output(path, reports::profile_page(profile, gpu, file));
  }
  write_chart(fmt::format("Roofline of {}", gpu.title), reports::profile_roofline(profile, gpu),
              path);
}

}  // namespace

ExitCode run_import(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_import());
  if (words.empty()) {
    throw UsageError(
        "which trace or table? For example: roofcast import examples/traces/gpt2_step.json.gz "
        "--gpu h100-sxm5");
  }
  const std::string_view format = read_format(options, {"table", "json", "csv"});
  const auto path = options.find("output");
  const bool picture = path && is_picture(*path);
  if (picture && options.has("format")) {
    throw UsageError("--format is about text, {} is a picture: leave one out", *path);
  }
  const std::int64_t rows = parse_whole("--rows", options.get("rows", "20"));
  if (rows < 0) throw UsageError("--rows takes a number of at least 0, not {}", rows);
  const auto device = read_device_number(options);
  const Gpu gpu = read_device(options);
  validation::Trace trace = validation::read_profile(words, device);
  warn_of_other_device(trace, gpu);
  if (trace.ignored_lines > 0) {
    warn(fmt::format("{} lines between the rows are no table's: left out", trace.ignored_lines));
  }
  const validation::Profile profile = validation::profile_of(std::move(trace), gpu);
  if (picture) {
    write_picture(profile, gpu, words.front(), *path);
    return ExitCode::done;
  }
  const ProfileAnswer answer{profile, gpu};
  const Style style = Style::of_output(path);
  write_output(path, format == "json" ? profile_json(answer)
                     : format == "csv"
                         ? profile_csv(answer)
                         : profile_text(answer, static_cast<std::size_t>(rows), style));
  return ExitCode::done;
}

}  // namespace roofcast::cli
