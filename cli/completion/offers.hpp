#pragma once
// The words that a shell offers at the cursor, the same for every shell.
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/input/options.hpp"

namespace roofcast::cli {

/// The shell variable that holds an offer's list, "roofcast_gpus"; empty for offers without a list.
std::string_view list_name(Offer offer);

/// Words that the script holds in a variable (list_name).
struct OfferedList {
  Offer offer;
  std::vector<std::string> words;
};
std::vector<OfferedList> offered_lists();

struct OfferedOption {
  std::string name;    ///< without dashes
  std::string letter;  ///< or empty
  bool takes_value = false;
  Offer value = Offer::nothing;
  std::vector<std::string> words;  ///< where `value` is some_words
  std::string meaning;
};

struct OfferedCommand {
  std::string name;
  std::string summary;
  Offer words = Offer::nothing;
  bool takes_parameters = false;  ///< the kernels named add options of their own
  std::vector<OfferedOption> options;
};
std::vector<OfferedCommand> offered_commands();

inline constexpr std::array<std::string_view, 3> kShells = {"bash", "zsh", "fish"};

/// The script of a shell among kShells.
std::string completion_script(std::string_view shell);

std::string bash_completion(std::span<const OfferedCommand> commands,
                            std::span<const OfferedList> lists);
std::string zsh_completion(std::span<const OfferedCommand> commands,
                           std::span<const OfferedList> lists);
std::string fish_completion(std::span<const OfferedCommand> commands,
                            std::span<const OfferedList> lists);

/// The text in single quotes, for bash and zsh.
std::string shell_quoted(std::string_view text);

}  // namespace roofcast::cli
