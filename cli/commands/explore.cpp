#include "cli/commands/opening.hpp"
#include "cli/output/files.hpp"
#include "reports/explorer_page.hpp"

namespace roofcast::cli {

Manual manual_explore() {
  return {.examples = "  roofcast explore -o page.html\n",
          .usage = "roofcast explore -o FILE",
          .about =
              R"(Writes the explorer: one HTML file with the model in it, which opens offline in any
browser. Kernel, shape, type and GPU are chosen there, or a step of a model; a
specification, a kernel file or a config.json is pasted or dropped; values are
overridden, up to four settings compared. The address after # holds them, and the page
shows the equal commands.)",
          .options = {{"output,o", "FILE", "the page, such as page.html; - for standard output"},
                      {"help,h", "", "this text"}}};
}

ExitCode run_explore(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_explore());
  if (!words.empty()) throw UsageError("explore takes no '{}'", words.front());
  if (!options.has("output")) throw UsageError("name the page's file: -o page.html");
  write_output(options.find("output"), reports::explorer_page());
  return ExitCode::done;
}

}  // namespace roofcast::cli
