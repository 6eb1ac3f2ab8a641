#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/files.hpp"
#include "reports/chart.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kReportHelp = {
    "  roofcast report run.json -o report.html\n"
    "  roofcast report run.json --datasheet -o without_calibration.html\n",
    "roofcast report RUN.json -o FILE.html [options]",
    "Writes one page that opens offline: device and conditions, the error by family and regime, "
    "the\n"
    "worst cases with their parts, rooflines, every case, and the run itself to save."};

std::vector<Option> option_table() {
  std::vector<Option> known = {{"gpu", "NAME|PATH", "the specification (default: the run's GPU)"},
                               {"output,o", "FILE", "the page (default: standard output)"},
                               {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) known.push_back(std::move(option));
  return known;
}

}  // namespace

Manual manual_report() {
  return {kReportHelp, option_table()};
}

ExitCode run_report(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kReportHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  if (words.size() != 1) {
    throw UsageError(
        "a report is of one run: roofcast report run.json -o report.html "
        "(`roofcast merge` joins shards)");
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
