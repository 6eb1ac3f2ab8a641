#include "cli/commands/opening.hpp"

#include "cli/input/distinct_files.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {

Options read_options(const SplitArguments& split, Manual manual, std::span<const KernelRef> kernels,
                     std::string_view value_name) {
  manual.options = joined({std::move(manual.options), parameter_options(kernels, value_name)});
  if (wants_help(split.options)) {
    write_output(std::nullopt, help_text(manual));
    throw HelpShown();
  }
  Options options = parse_options(split.options, manual.options);
  refuse_output_over_input(options, manual.options, split.words);
  return options;
}

Given read_arguments(const Arguments& arguments, const Manual& manual) {
  SplitArguments split = split_words(arguments, manual.options);
  Options options = read_options(split, manual, {});
  return {std::move(split.words), std::move(options)};
}

GivenKernels read_kernels(const Arguments& arguments, const Manual& manual,
                          std::string_view value_name) {
  const SplitArguments split = split_words(arguments, manual.options);
  std::vector<KernelRef> kernels = kernels_named(split.words);
  Options options = read_options(split, manual, kernels, value_name);
  return {std::move(kernels), std::move(options)};
}

}  // namespace roofcast::cli
