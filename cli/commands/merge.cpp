#include <fmt/format.h>

#include "cli/commands/opening.hpp"
#include "cli/input/options.hpp"
#include "cli/output/files.hpp"
#include "validation/runs/merge.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {"  roofcast merge shard-*.json -o run.json\n",
                            "roofcast merge RUN.json RUN.json... -o FILE",
                            "Joins the run files of all shards of one validation: same suite, "
                            "build, device and conditions."};

std::vector<Option> option_table() {
  return {{"output,o", "FILE", "the joined run (default: standard output)"},
          {"help,h", "", "this text"}};
}

}  // namespace

Manual manual_merge() {
  return {kHelp, option_table()};
}

ExitCode run_merge(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  if (words.empty()) {
    throw UsageError("which runs? For example: roofcast merge a.json b.json -o run.json");
  }
  std::vector<validation::NamedRun> runs;
  for (const std::string& file : words) {
    runs.push_back({file, validation::parse_run(file, read_file(file))});
  }
  write_output(options.find("output"), validation::to_json(validation::merge(runs)));
  return ExitCode::done;
}

}  // namespace roofcast::cli
