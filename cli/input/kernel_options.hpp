#pragma once
// The options of a kernel, made from its parameter table.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input/options.hpp"
#include "model/roofcast.hpp"

namespace roofcast::cli {

/// A kernel or family of that name, or the kernel that a file NAME.json describes. UsageError, with
/// the nearest name, if there is none; SpecError for faults in the file.
KernelRef kernel_named(std::string_view name);
std::vector<KernelRef> kernels_named(std::span<const std::string> names);

/// The names of all families and kernels of the catalog.
std::vector<std::string_view> kernel_names();

/// Every parameter of the kernels as an option, once. `value_name` is the help's placeholder for
/// numbers.
std::vector<Option> parameter_options(std::span<const KernelRef> kernels,
                                      std::string_view value_name);
std::vector<std::string> parameter_names(std::span<const KernelRef> kernels);

/// One value as the command line gives it: a number, a choice's name, or a text. Throws UsageError
/// for another name (the choices are listed), and as parse_whole does.
void read_value(const Parameter& parameter, std::string_view text, Problem& problem,
                std::size_t position);

/// The kernel's type and parameters out of the options, checked. UsageError for a missing one.
Problem read_problem(const Options& options, const KernelRef& kernel);

/// fp32 where the kernel has it, else its first type.
DType default_dtype(const KernelRef& kernel);

/// The type named; the default without a name. UsageError, with the kernel's types, for others.
DType read_dtype(const std::optional<std::string>& text, const KernelRef& kernel);

/// A command's own options, then those of every forecast: the device's (with_device_options), and
/// --cache, --launch, --sm-clock and --worked.
std::vector<Option> with_forecast_options(std::vector<Option> own);
Assumptions read_assumptions(const Options& options);

CacheState parse_cache(std::string_view text);
LaunchMode parse_launch(std::string_view text);
DType parse_element_type(std::string_view text);

}  // namespace roofcast::cli
