#include <fmt/format.h>

#include "cli/files.hpp"
#include "cli/options.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kHelp = {
    "  roofcast validate --suite default -o run.json\n"
    "  roofcast validate --suite gemm --shard 0/4 -o shard0.json\n"
    "  sbatch --array=0-3 --wrap 'roofcast validate --suite default -o "
    "shard$SLURM_ARRAY_TASK_ID.json'\n",
    "roofcast validate --suite NAME|FILE -o RUN.json [options]",
    "Measures the suite's kernels on this machine's GPU and writes the run case by case. Started\n"
    "again with the same file, it goes on where it stopped. In a Slurm job array each task takes\n"
    "its shard; `roofcast merge` joins them."};

std::vector<Option> option_table() {
  return {{"suite", "NAME|FILE", "what to measure (default: default)"},
          {"output,o", "FILE", "the run file, written case by case"},
          {"shard", "I/N", "only part I of N, from 0 (default: the Slurm array's task)"},
          {"no-counters", "", "time only: do not read hardware counters"},
          {"help,h", "", "this text"}};
}

}  // namespace

ExitCode run_validate(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  if (wants_help(arguments)) {
    write_output(std::nullopt, help_text(kHelp, known));
    return ExitCode::done;
  }
  const SplitArguments split = split_words(arguments, known);
  const Options options = parse_options(split.options, known);
  if (!split.words.empty()) {
    throw UsageError(fmt::format("'{}' stands alone: name a suite with --suite", split.words[0]));
  }
  throw NoGpuError("this build has no CUDA");
}

}  // namespace roofcast::cli
