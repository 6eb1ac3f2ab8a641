#pragma once
#include <span>

#include "cli/input/options.hpp"

namespace roofcast::cli {

/// Throws UsageError where the output (-o, else standard output) is a file that the command also
/// reads: a word, or the value of an option that takes a file. Links and spellings of a path do not
/// matter. Such an output replaces what was measured, and a batch appended to itself has no end.
void refuse_output_over_input(const Options& options, std::span<const Option> known,
                              const Arguments& words);

}  // namespace roofcast::cli
