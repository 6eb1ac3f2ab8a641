#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/completion/offers.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/visible_text.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kCompletionHelp = {
    "  roofcast completion bash > completion.bash\n"
    "  roofcast completion zsh > _roofcast\n"
    "  roofcast completion fish > roofcast.fish\n"
    "  roofcast completion parameters gemm.tiled\n",
    "roofcast completion bash|zsh|fish\n"
    "       roofcast completion parameters KERNEL...",
    "Writes the script that completes commands, options and their values in a shell: `source\n"
    "<(roofcast completion bash)` in ~/.bashrc, the same with zsh in ~/.zshrc, and `roofcast\n"
    "completion fish | source` in ~/.config/fish/config.fish. An installed roofcast has them "
    "already.\n"
    "With `parameters`, which the scripts ask for: what the kernels take, a line each of the name, "
    "its\n"
    "meaning and its choices, parted by tabs."};

std::vector<Option> option_table() {
  return {{"help,h", "", "this text"}};
}

std::string parameters_text(std::span<const KernelRef> kernels) {
  std::string text;
  std::vector<std::string> written;
  for (const KernelRef& kernel : kernels) {
    for (const Parameter& parameter : kernel.parameters()) {
      const std::string name(parameter.name);
      if (std::find(written.begin(), written.end(), name) != written.end()) continue;
      written.push_back(name);
      text += fmt::format("{}\t{}\t{}\n", name, visible(parameter.meaning),
                          fmt::join(parameter.choices, " "));
    }
  }
  return text;
}

}  // namespace

Manual manual_completion() {
  return {kCompletionHelp, option_table()};
}

ExitCode run_completion(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kCompletionHelp, known);
  if (!given) return ExitCode::done;
  const Arguments& words = given->words;
  if (words.empty()) throw UsageError("which shell? For example: roofcast completion bash");
  if (words.front() == "parameters") {
    std::vector<KernelRef> kernels;
    for (std::size_t i = 1; i < words.size(); ++i) kernels.push_back(kernel_named(words[i]));
    if (kernels.empty()) {
      throw UsageError("which kernel? For example: roofcast completion parameters gemm.tiled");
    }
    write_output(std::nullopt, parameters_text(kernels));
    return ExitCode::done;
  }
  const std::string_view shell = one_of("the shell", words.front(), kShells);
  if (words.size() > 1) {
    throw UsageError(fmt::format("completion takes one shell, and also found '{}'", words[1]));
  }
  write_output(std::nullopt, completion_script(shell));
  return ExitCode::done;
}

}  // namespace roofcast::cli
