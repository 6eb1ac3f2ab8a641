#pragma once
#include <optional>
#include <span>

#include "cli/input/options.hpp"

namespace roofcast::cli {

/// Writes the help where it is asked for: then there is nothing else to do.
bool writes_help(const Arguments& arguments, const HelpPage& page, std::span<const Option> known);

/// What follows the name of a subcommand.
struct Given {
  Arguments words;
  Options options;
};

/// The same of a subcommand whose options are known beforehand; nothing after help. Throws
/// UsageError also where the output is one of the inputs.
std::optional<Given> read_arguments(const Arguments& arguments, const HelpPage& page,
                                    std::span<const Option> known);

}  // namespace roofcast::cli
