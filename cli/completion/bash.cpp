#include <fmt/format.h>

#include "cli/completion/offers.hpp"

namespace roofcast::cli {
namespace {

constexpr std::string_view kHead =
    R"(# Completes roofcast in bash: source <(roofcast completion bash)

)";

// Prints each parameter of the kernels on the command line as a line: name, meaning and choices.
constexpr std::string_view kParameters = R"(
_roofcast_parameters() {
  local word kernels=()
  for word in "${COMP_WORDS[@]:2}"; do
    [[ " $roofcast_kernels " == *" $word "* || $word == *.json ]] && kernels+=("$word")
  done
  ((${#kernels[@]})) && "${COMP_WORDS[0]}" completion parameters "${kernels[@]}" 2>/dev/null
}

)";

// Bash splits words at '=': --gpu=h200-sxm comes as three. With no offers it completes file names.
constexpr std::string_view kBegin = R"(_roofcast() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
  local options='' words='' values='' parameters='' name choices kept=''
  COMPREPLY=()
  if [[ $current == = ]]; then current=''; fi
  if [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD - 2]}; fi
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$roofcast_commands --help --version" -- "$current")
    return
  fi
  case ${COMP_WORDS[1]} in
)";

constexpr std::string_view kEnd = R"(    *) return ;;
  esac
  if [[ -n $parameters ]]; then
    while IFS=$'\t' read -r name _ choices; do
      options+=" --$name"
      if [[ $option == "--$name" ]]; then
        if [[ -z $choices ]]; then return; fi
        values=$choices
      fi
    done < <(_roofcast_parameters)
  fi
  if [[ -n $values ]]; then
    words=$values
    if [[ $current == *,* ]]; then
      kept=${current%,*},
      current=${current##*,}
    fi
  elif [[ $current == -* ]]; then
    words=$options
  fi
  mapfile -t COMPREPLY < <(compgen -P "$kept" -W "$words" -- "$current")
}

complete -o bashdefault -o default -F _roofcast roofcast
)";

/// The right side of `words=` or `values=`: a list's variable or quoted words; empty for no offers.
std::string words_of(Offer offer, const std::vector<std::string>& words) {
  if (offer == Offer::some_words) return shell_quoted(fmt::format("{}", fmt::join(words, " ")));
  const std::string_view list = list_name(offer);
  return list.empty() ? std::string() : fmt::format("${}", list);
}

std::string dashed(const OfferedOption& option, std::string_view separator) {
  if (option.letter.empty()) return fmt::format("--{}", option.name);
  return fmt::format("--{}{}-{}", option.name, separator, option.letter);
}

/// A `case` branch for an option that takes a value.
std::string branch(const OfferedOption& option) {
  const std::string words = words_of(option.value, option.words);
  return fmt::format("        {}) {} ;;\n", dashed(option, " | "),
                     words.empty() ? "return" : "values=" + words);
}

std::string branch(const OfferedCommand& command) {
  std::string names;
  std::string branches;
  for (const OfferedOption& option : command.options) {
    names.append(names.empty() ? "" : " ").append(dashed(option, " "));
    if (option.takes_value) branches += branch(option);
  }
  std::string text = fmt::format("    {})\n      options='{}'\n", command.name, names);
  const std::string words = words_of(command.words, {});
  if (!words.empty()) text += fmt::format("      words={}\n", words);
  if (command.takes_parameters) text += "      parameters=yes\n";
  if (!branches.empty()) text += fmt::format("      case $option in\n{}      esac\n", branches);
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completion(std::span<const OfferedCommand> commands,
                            std::span<const OfferedList> lists) {
  std::string text(kHead);
  for (const OfferedList& list : lists) {
    text += fmt::format("{}='{}'\n", list_name(list.offer), fmt::join(list.words, " "));
  }
  text.append(kParameters).append(kBegin);
  for (const OfferedCommand& command : commands) text += branch(command);
  return text.append(kEnd);
}

}  // namespace roofcast::cli
