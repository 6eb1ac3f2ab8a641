#pragma once
// Manual pages in roff, made from the texts of --help.
#include <span>
#include <string>

#include "cli/commands/command.hpp"

namespace roofcast::cli {

/// roofcast(1): the commands and the exit codes.
std::string program_man_page(std::span<const Command> commands);

/// roofcast-COMMAND(1).
std::string command_man_page(const Command& command);

}  // namespace roofcast::cli
