#pragma once
// What a subcommand does first: it reads its arguments.
#include <span>
#include <string_view>
#include <vector>

#include "cli/input/options.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// The words and options after the name of a subcommand.
struct Given {
  Arguments words;
  Options options;
};

/// The kernels that a subcommand's words name, and its options.
struct GivenKernels {
  std::vector<KernelRef> kernels;
  Options options;
};

/// Reads the arguments of a subcommand whose options do not depend on its words. Throws HelpShown
/// where the help was asked for; UsageError, also where the output is one of the inputs.
Given read_arguments(const Arguments& arguments, const Manual& manual);

/// The same for a subcommand whose words are kernels, each with its parameters as options.
/// `value_name` is the help's placeholder for their numbers.
GivenKernels read_kernels(const Arguments& arguments, const Manual& manual,
                          std::string_view value_name = "N");

/// The options alone, to which the kernels add their parameters. Throws as read_arguments.
Options read_options(const SplitArguments& split, Manual manual, std::span<const KernelRef> kernels,
                     std::string_view value_name = "N");

}  // namespace roofcast::cli
