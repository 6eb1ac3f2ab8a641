#pragma once
#include <optional>
#include <span>

#include "cli/input/options.hpp"

namespace roofcast::cli {

/// Writes the help if the arguments ask for it, and returns whether they do.
bool writes_help(const Arguments& arguments, const HelpPage& page, std::span<const Option> known);

/// The words and options after the name of a subcommand.
struct Given {
  Arguments words;
  Options options;
};

/// Reads the arguments of a subcommand whose options do not depend on its words; nothing if the
/// help was written instead. Throws UsageError, also where the output is one of the inputs.
std::optional<Given> read_arguments(const Arguments& arguments, const HelpPage& page,
                                    std::span<const Option> known);

}  // namespace roofcast::cli
