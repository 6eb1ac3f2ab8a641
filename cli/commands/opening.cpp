#include "cli/commands/opening.hpp"

#include "cli/input/distinct_files.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {

bool writes_help(const Arguments& arguments, const HelpPage& page, std::span<const Option> known) {
  if (!wants_help(arguments)) return false;
  write_output(std::nullopt, help_text(page, known));
  return true;
}

std::optional<Given> read_arguments(const Arguments& arguments, const HelpPage& page,
                                    std::span<const Option> known) {
  if (writes_help(arguments, page, known)) return std::nullopt;
  SplitArguments split = split_words(arguments, known);
  Given given{std::move(split.words), parse_options(split.options, known)};
  refuse_output_over_input(given.options, known, given.words);
  return given;
}

}  // namespace roofcast::cli
