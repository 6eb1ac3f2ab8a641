#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/files.hpp"
#include "reports/chart.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::cli {

Manual manual_report() {
  return {.examples =
              "  roofcast report run.json -o report.html\n"
              "  roofcast report run.json --datasheet -o without_calibration.html\n",
          .usage = "roofcast report RUN.json -o FILE.html [options]",
          .about =
              R"(Writes one page that opens offline: device and conditions, the error by family and
regime, the worst cases with their parts, rooflines, every case, and the run itself to
save.)",
          .options = with_device_options(
              {{"gpu", "NAME|PATH", "the specification (default: the run's GPU)"},
               {"output,o", "FILE", "the page (default: standard output)"},
               {"help,h", "", "this text"}})};
}

ExitCode run_report(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_report());
  if (words.size() != 1) {
    throw UsageError(
        "a report is of one run: roofcast report run.json -o report.html (`roofcast merge` joins "
        "shards)");
  }
  const std::string& file = words.front();
  const std::string text = read_file(file);
  const validation::Run run = validation::parse_run(file, text);
  const Gpu gpu = load_device(device_of_run(file, run, options), read_device_options(options));
  write_output(options.find("output"),
               reports::report_page(validation::compare(run, gpu), gpu, run, text));
  return ExitCode::done;
}

}  // namespace roofcast::cli
