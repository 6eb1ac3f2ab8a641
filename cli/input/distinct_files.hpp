#pragma once
#include <span>

#include "cli/input/options.hpp"

namespace roofcast::cli {

/// Throws UsageError where the output (-o, else standard output) is a file that the command also
/// reads: a word, or the value of an option that takes a file. Files are compared by device and
/// inode. Such an output would destroy the input, and a batch appended to itself would have no end.
void refuse_output_over_input(const Options& options, std::span<const Option> known,
                              const Arguments& words);

}  // namespace roofcast::cli
