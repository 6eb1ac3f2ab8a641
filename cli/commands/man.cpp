#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/output/files.hpp"
#include "cli/output/man_page.hpp"

namespace roofcast::cli {

Manual manual_man() {
  return {
      .examples =
          "  roofcast man > roofcast.1\n"
          "  roofcast man predict > roofcast-predict.1\n",
      .usage = "roofcast man [COMMAND]",
      .about =
          R"(Writes the manual page of the program or of a command, which `man -l FILE` shows. An
installed roofcast has them already: `man roofcast-predict`.)",
      .options = {{"help,h", "", "this text"}}};
}

ExitCode run_man(const Arguments& arguments) {
  const Arguments words = read_arguments(arguments, manual_man()).words;
  if (words.size() > 1) {
    throw UsageError("man takes one command, and also found '{}'", words[1]);
  }
  if (words.empty()) {
    write_output(std::nullopt, program_man_page(commands()));
    return ExitCode::done;
  }
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  const std::string_view name = one_of("the command", words.front(), names);
  const auto found = std::find(names.begin(), names.end(), name);
  write_output(std::nullopt,
               command_man_page(commands()[static_cast<std::size_t>(found - names.begin())]));
  return ExitCode::done;
}

}  // namespace roofcast::cli
