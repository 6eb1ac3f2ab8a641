#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

#include "cli/completion/offers.hpp"

namespace roofcast::cli {
namespace {

// As a file in fpath, zsh loads the script as the function _roofcast; sourced, it registers itself.
constexpr std::string_view kHead = R"(#compdef roofcast
# Completes roofcast in zsh: source <(roofcast completion zsh)

)";

// Adds the parameters of the kernels on the command line as options, from lines of a name, a
// meaning and choices.
constexpr std::string_view kParameters = R"zsh(
_roofcast_parameters() {
  local word line
  local -a kernels parts
  for word in ${words[2,-1]}; do
    [[ -n ${(M)roofcast_kernels:#$word} || $word == *.json ]] && kernels+=($word)
  done
  (( $#kernels )) || return
  for line in "${(@f)$(${program} completion parameters $kernels 2>/dev/null)}"; do
    parts=("${(@ps:\t:)line}")
    parameters+=("--${parts[1]}=[${${${parts[2]//:/\\:}//\[/\\[}//\]/\\]}]:value:(${parts[3]})")
  done
}

)zsh";

constexpr std::string_view kBegin = R"(_roofcast() {
  local program=$words[1] command=$words[2]
  local -a parameters
  if (( CURRENT == 2 )); then
    _describe command roofcast_summaries
    return
  fi
  shift words
  (( CURRENT-- ))
  case $command in
)";

constexpr std::string_view kEnd = R"(  esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _roofcast "$@"
else
  compdef _roofcast roofcast
fi
)";

/// Escapes colons and brackets, which would end a description, and backslashes.
std::string escaped(std::string_view text) {
  std::string found(text);
  for (const char* letter : {"\\", ":", "[", "]"}) {
    boost::replace_all(found, letter, std::string("\\") + letter);
  }
  return found;
}

std::string action(Offer offer, const std::vector<std::string>& words) {
  switch (offer) {
    case Offer::nothing:
      return " ";
    case Offer::files:
      return "_files";
    case Offer::some_words:
      return fmt::format("({})", fmt::join(words, " "));
    case Offer::kernels:
    case Offer::gpus:
    case Offer::models:
    case Offer::kernels_or_gpus:
      return fmt::format("{{compadd -a {}; _files -g \"*.json\"}}", list_name(offer));
    default:
      return fmt::format("{{compadd -a {}}}", list_name(offer));
  }
}

std::string specification(const OfferedOption& option) {
  const std::string meaning = fmt::format("[{}]", escaped(option.meaning));
  const std::string value =
      option.takes_value ? fmt::format(":value:{}", action(option.value, option.words)) : "";
  const std::string_view joins = option.takes_value ? "=" : "";
  if (option.letter.empty()) {
    return shell_quoted(fmt::format("*--{}{}{}{}", option.name, joins, meaning, value));
  }
  return fmt::format("'*'{{-{},--{}{}}}{}", option.letter, option.name, joins,
                     shell_quoted(meaning + value));
}

std::string branch(const OfferedCommand& command) {
  std::string text = fmt::format("    {})\n", command.name);
  if (command.takes_parameters) text += "      _roofcast_parameters\n";
  text += "      _arguments \\\n";
  for (const OfferedOption& option : command.options) {
    text += fmt::format("        {} \\\n", specification(option));
  }
  if (command.takes_parameters) text += "        $parameters \\\n";
  return text + fmt::format("        {} ;;\n",
                            shell_quoted(fmt::format("*:word:{}", action(command.words, {}))));
}

}  // namespace

std::string zsh_completion(std::span<const OfferedCommand> commands,
                           std::span<const OfferedList> lists) {
  std::string text(kHead);
  for (const OfferedList& list : lists) {
    text += fmt::format("{}=({})\n", list_name(list.offer), fmt::join(list.words, " "));
  }
  text += "roofcast_summaries=(\n";
  for (const OfferedCommand& command : commands) {
    text += fmt::format("  {}\n", shell_quoted(command.name + ":" + escaped(command.summary)));
  }
  text.append(")\n").append(kParameters).append(kBegin);
  for (const OfferedCommand& command : commands) text += branch(command);
  return text.append(kEnd);
}

}  // namespace roofcast::cli
