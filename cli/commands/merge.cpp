#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/input/options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/shard_rows.hpp"
#include "validation/runs/merge.hpp"

namespace roofcast::cli {

Manual manual_merge() {
  return {
      .examples =
          "  roofcast merge shard-*.json -o run.json\n"
          "  roofcast merge part-*.csv -o sweep.csv\n",
      .usage = "roofcast merge FILE FILE... -o FILE",
      .about = R"(Joins the run files of all shards of one validation (same suite, build, device and
conditions), or the tables of all shards of one `sweep` or `model`.)",
      .options = {{"output,o", "FILE", "the joined run or table (default: standard output)"},
                  {"help,h", "", "this text"}}};
}

ExitCode run_merge(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_merge());
  if (words.empty()) {
    throw UsageError("which runs? For example: roofcast merge a.json b.json -o run.json");
  }
  std::vector<ShardFile> files;
  for (const std::string& file : words) files.push_back({file, read_file(file)});
  const auto tables = static_cast<std::size_t>(std::count_if(
      files.begin(), files.end(), [](const ShardFile& file) { return is_shard_file(file.text); }));
  if (tables == files.size()) {
    write_output(options.find("output"), merge_shard_files(files));
    return ExitCode::done;
  }
  if (tables > 0) throw InputError("runs and tables of shards do not join: name one kind");
  std::vector<validation::NamedRun> runs;
  runs.reserve(files.size());
  for (const ShardFile& file : files) {
    runs.push_back({file.name, validation::parse_run(file.name, file.text)});
  }
  write_output(options.find("output"), validation::to_json(validation::merge(runs)));
  return ExitCode::done;
}

}  // namespace roofcast::cli
