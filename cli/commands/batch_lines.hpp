#pragma once
// All lines of a batch, answered in order by one thread or several.
#include <functional>
#include <optional>
#include <string>

#include "cli/commands/batch.hpp"
#include "cli/exit_code.hpp"
#include "cli/input/options.hpp"

namespace roofcast::cli {

/// A command's options and those of a batch, --queries and --jobs: it has them where no kernel is
/// named.
std::vector<Option> with_batch_options(std::vector<Option> options);
/// Throws UsageError where the file of queries is given as --batch, a parameter of kernels.
void refuse_batch_option(const Arguments& arguments);
/// Throws UsageError where an option is given that goes with --queries alone.
void refuse_without_queries(const Options& options);
/// --gpu, --dtype and the like, for lines that do not say otherwise. Throws UsageError.
BatchDefaults read_batch_defaults(const Options& options);

/// The threads asked for: 1 without --jobs, as many as there are cores for 0. Throws UsageError.
std::size_t read_jobs(const Options& options);

/// Answers every line of `input` ("-": standard input) into `output`, with `make()` for each
/// thread. A program that writes some lines and waits for their answers gets them. Returns
/// bad_input, with a warning, where a line could not be answered.
ExitCode answer_lines(const std::string& input, const std::optional<std::string>& output,
                      std::size_t jobs, const std::function<Batch()>& make);

}  // namespace roofcast::cli
