#include "cli/commands/opening.hpp"
#include "cli/output/files.hpp"
#include "reports/explorer_page.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kExploreHelp = {
    "  roofcast explore -o page.html\n", "roofcast explore -o FILE",
    "Writes the explorer: one HTML file with the model in it, which opens offline in any browser.\n"
    "Kernel, shape, type and GPU are chosen there, or a step of a model; a specification, a kernel "
    "file\n"
    "or a config.json is pasted or dropped; values are overridden, up to four settings compared. "
    "The\n"
    "address after # holds them, and the page shows the equal commands."};

std::vector<Option> option_table() {
  return {{"output,o", "FILE", "the page, such as page.html; - for standard output"},
          {"help,h", "", "this text"}};
}

}  // namespace

Manual manual_explore() {
  return {kExploreHelp, option_table()};
}

ExitCode run_explore(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kExploreHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  if (!words.empty()) throw UsageError(fmt::format("explore takes no '{}'", words.front()));
  if (!options.has("output")) throw UsageError("name the page's file: -o page.html");
  write_output(options.find("output"), reports::explorer_page());
  return ExitCode::done;
}

}  // namespace roofcast::cli
