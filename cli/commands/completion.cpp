#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/opening.hpp"
#include "cli/completion/offers.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/visible_text.hpp"

namespace roofcast::cli {

Manual manual_completion() {
  return {
      .examples =
          "  roofcast completion bash > completion.bash\n"
          "  roofcast completion zsh > _roofcast\n"
          "  roofcast completion fish > roofcast.fish\n"
          "  roofcast completion parameters gemm.tiled\n",
      .usage =
          "roofcast completion bash|zsh|fish\n"
          "       roofcast completion parameters KERNEL...",
      .about =
          R"(Writes the script that completes commands, options and their values in a shell: `source
<(roofcast completion bash)` in ~/.bashrc, the same with zsh in ~/.zshrc, and `roofcast
completion fish | source` in ~/.config/fish/config.fish. An installed roofcast has them
already. With `parameters`, which the scripts ask for: what the kernels take, a line
each of the name, its meaning and its choices, parted by tabs.)",
      .options = {{"help,h", "", "this text"}}};
}

namespace {

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

ExitCode run_completion(const Arguments& arguments) {
  const Arguments words = read_arguments(arguments, manual_completion()).words;
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
    throw UsageError("completion takes one shell, and also found '{}'", words[1]);
  }
  write_output(std::nullopt, completion_script(shell));
  return ExitCode::done;
}

}  // namespace roofcast::cli
