#pragma once
// All lines of a batch, answered in order by one thread or several.
#include <functional>
#include <optional>
#include <string>

#include "cli/commands/batch.hpp"
#include "cli/exit_code.hpp"
#include "cli/input/options.hpp"

namespace roofcast::cli {

/// A command's options and those of a batch: --queries, --kernel-file and --jobs.
std::vector<Option> with_batch_options(std::vector<Option> options);
/// Throws UsageError for --batch, a parameter of kernels, given without a kernel.
void refuse_batch_option(const SplitArguments& split);
/// Whether --queries is given. Throws UsageError where `kernels` names one too, and for --jobs and
/// --kernel-file without --queries.
bool wants_batch(const Options& options, const Arguments& kernels);
/// --gpu, --dtype and the like, for lines that do not give their own. Throws UsageError.
BatchDefaults read_batch_defaults(const Options& options);

/// Threads to use: --jobs, or one for each core if --jobs is 0 or absent. Throws UsageError.
std::size_t read_jobs(const Options& options);

/// Answers every line of `input` ("-": standard input) into `output`; each thread has a Batch from
/// `make`. Answers are flushed before each wait for input, so a program that writes some lines and
/// waits gets theirs. Returns bad_input, with a warning, where a line could not be answered.
ExitCode answer_lines(const std::string& input, const std::optional<std::string>& output,
                      std::size_t jobs, const std::function<Batch()>& make);

}  // namespace roofcast::cli
