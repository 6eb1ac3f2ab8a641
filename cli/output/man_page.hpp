#pragma once
// Manual pages as man reads them (roff), made of the texts that --help shows.
#include <span>
#include <string>

#include "cli/commands/command.hpp"

namespace roofcast::cli {

/// roofcast(1): the commands and the exit codes.
std::string program_man_page(std::span<const Command> commands);

/// roofcast-COMMAND(1).
std::string command_man_page(const Command& command);

}  // namespace roofcast::cli
