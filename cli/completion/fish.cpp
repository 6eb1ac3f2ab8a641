#include <fmt/format.h>

#include "cli/completion/offers.hpp"

namespace roofcast::cli {
namespace {

// Offers the parameters of the kernels on the command line as options; for the parameter before the
// cursor, its choices. They come from lines of a name, a meaning and choices.
constexpr std::string_view kHead =
    R"(# Completes roofcast in fish: roofcast completion fish | source

function __roofcast_parameters
  set -l words (commandline -opc)
  set -l kernels
  for word in $words[3..-1]
    if contains -- $word $roofcast_kernels; or string match -q '*.json' -- $word
      set -a kernels $word
    end
  end
  test -n "$kernels"; or return
  $words[1] completion parameters $kernels 2>/dev/null | while read -l -d \t name meaning choices
    if test "--$name" = $words[-1]
      string split ' ' -- $choices
    else
      printf '%s\t%s\n' "--$name" "$meaning"
    end
  end
end

complete -c roofcast -f
complete -c roofcast -n __fish_use_subcommand -l help -s h -d 'the commands'
complete -c roofcast -n __fish_use_subcommand -l version -d 'the version'
)";

std::string fish_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

/// The argument of -a; empty where nothing is offered, or file names alone.
std::string words_of(Offer offer, const std::vector<std::string>& words) {
  if (offer == Offer::some_words) return fish_quoted(fmt::format("{}", fmt::join(words, " ")));
  const std::string_view list = list_name(offer);
  return list.empty() ? std::string() : fmt::format("\"${}\"", list);
}

bool takes_files(Offer offer) {
  return offer == Offer::files || offer == Offer::kernels || offer == Offer::gpus ||
         offer == Offer::models || offer == Offer::kernels_or_gpus;
}

std::string line(const std::string& begin, const OfferedOption& option) {
  std::string text = fmt::format("{} -l {}", begin, option.name);
  if (!option.letter.empty()) text += fmt::format(" -s {}", option.letter);
  if (option.takes_value) text += takes_files(option.value) ? " -r -F" : " -x";
  const std::string words = words_of(option.value, option.words);
  if (!words.empty()) text += " -a " + words;
  return fmt::format("{} -d {}\n", text, fish_quoted(option.meaning));
}

std::string lines(const OfferedCommand& command) {
  std::string text = fmt::format("complete -c roofcast -n __fish_use_subcommand -a {} -d {}\n",
                                 command.name, fish_quoted(command.summary));
  const std::string begin =
      fmt::format("complete -c roofcast -n '__fish_seen_subcommand_from {}'", command.name);
  const std::string words = words_of(command.words, {});
  if (!words.empty()) text += fmt::format("{} -a {}\n", begin, words);
  if (takes_files(command.words)) text += begin + " -F\n";
  if (command.takes_parameters) text += begin + " -a '(__roofcast_parameters)'\n";
  for (const OfferedOption& option : command.options) text += line(begin, option);
  return text;
}

}  // namespace

std::string fish_completion(std::span<const OfferedCommand> commands,
                            std::span<const OfferedList> lists) {
  std::string text(kHead);
  for (const OfferedList& list : lists) {
    text += fmt::format("set -g {} {}\n", list_name(list.offer), fmt::join(list.words, " "));
  }
  for (const OfferedCommand& command : commands) text += lines(command);
  return text;
}

}  // namespace roofcast::cli
