#include "cli/input/kernel_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/input/device.hpp"
#include "cli/output/answer.hpp"
#include "hw_specs/kernel_file.hpp"
#include "hw_specs/text_file.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {

namespace {

std::string_view named_placeholder(const Parameter& parameter) {
  return parameter.is_text ? "TEXT" : "NAME";
}

/// The value whose name is `text`. UsageError for another name.
template <class Value, std::size_t kCount>
Value value_named(std::string_view what, std::string_view text,
                  const std::array<Value, kCount>& values) {
  std::array<std::string_view, kCount> names;
  std::transform(values.begin(), values.end(), names.begin(),
                 [](Value value) { return name(value); });
  const auto found = std::find(names.begin(), names.end(), one_of(what, text, names));
  return values[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

KernelRef kernel_named(std::string_view name) {
  if (name.ends_with(".json")) {
    const std::string path(name);
    return specs::load_kernel(path, specs::read_text(path));
  }
  if (name.find('/') != std::string_view::npos) {
    throw UsageError(
        "'{}' is no kernel file: those end in .json, and `roofcast inspect PROGRAM -o mine.json` "
        "writes one from compiled code",
        name);
  }
  try {
    return find_kernel(name);
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

std::vector<KernelRef> kernels_named(std::span<const std::string> names) {
  std::vector<KernelRef> kernels;
  for (const std::string& name : distinct("the command", {names.begin(), names.end()})) {
    kernels.push_back(kernel_named(name));
  }
  return kernels;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const KernelFamily& family : catalog()) {
    names.push_back(family.name);
    for (const KernelModel& kernel : family.variants) names.push_back(kernel.name);
  }
  return names;
}

std::vector<std::string> parameter_names(std::span<const KernelRef> kernels) {
  std::vector<std::string> names;
  for (const KernelRef& kernel : kernels) {
    for (const Parameter& parameter : kernel.parameters()) {
      if (std::find(names.begin(), names.end(), parameter.name) == names.end()) {
        names.emplace_back(parameter.name);
      }
    }
  }
  return names;
}

std::vector<Option> parameter_options(std::span<const KernelRef> kernels,
                                      std::string_view value_name) {
  std::vector<Option> options;
  for (const KernelRef& kernel : kernels) {
    for (const Parameter& parameter : kernel.parameters()) {
      const auto same = [&](const Option& option) { return option.name == parameter.name; };
      if (std::any_of(options.begin(), options.end(), same)) continue;
      const std::string fallback = fallback_text(parameter);
      options.push_back(
          {std::string(parameter.name),
           std::string(is_named(parameter) ? named_placeholder(parameter) : value_name),
           fmt::format("{}, {}{}", parameter.meaning, allowed_text(parameter),
                       fallback.empty() ? "" : fmt::format(", default {}", fallback))});
    }
  }
  return options;
}

void read_value(const Parameter& parameter, std::string_view text, Problem& problem,
                std::size_t position) {
  if (!is_named(parameter)) {
    problem[position] = parse_whole(fmt::format("--{}", parameter.name), text);
    return;
  }
  try {
    set_named_value(parameter, problem, position, text);
  } catch (const InputError& error) {
    throw UsageError("--{}", error.what());
  }
}

Problem read_problem(const Options& options, const KernelRef& kernel) {
  Problem problem;
  problem.dtype = read_dtype(options.find("dtype"), kernel);
  unsigned given = 0;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string option = fmt::format("--{}", parameters[i].name);
    if (const auto text = options.find(parameters[i].name)) {
      read_value(parameters[i], *text, problem, i);
      given |= 1U << i;
    } else if (!parameters[i].fallback) {
      throw UsageError("{} needs {}: {}", kernel.name(), option, parameters[i].meaning);
    }
  }
  check(kernel, problem, given);
  return problem;
}

DType default_dtype(const KernelRef& kernel) {
  const auto types = kernel.dtypes();
  const auto found = std::find(types.begin(), types.end(), DType::fp32);
  return found != types.end() ? *found : types.front();
}

DType read_dtype(const std::optional<std::string>& text, const KernelRef& kernel) {
  if (!text) return default_dtype(kernel);
  if (const auto type = parse_dtype(*text)) return *type;
  std::vector<std::string_view> names;
  for (const DType type : kernel.dtypes()) names.push_back(name(type));
  throw UsageError("there is no element type '{}'; {} takes {}.{}", *text, kernel.name(),
                   fmt::join(names, ", "), did_you_mean(*text, names));
}

std::vector<Option> with_forecast_options(std::vector<Option> own) {
  return joined(
      {with_device_options(std::move(own)),
       {{"cache", "cold|warm|steady|repeated",
         "what L2 holds at the start: cold (one launch, timed alone; the default), warm (the same, "
         "but what an earlier kernel just computed is there as far as it fits: x of a kernel over "
         "rows, A of a product), steady (launches back to back, each of other data) or repeated "
         "(of the same data, as a timing loop does: L2 keeps what fits)"},
        {"launch", "stream|graph|pdl",
         "how kernels are launched: one by one in a stream, as nodes of a CUDA graph, or there by "
         "programmatic dependent launch (default: stream; graph where launches are back to back)"},
        {"sm-clock", "HZ", "a measured SM clock instead of the expected one"},
        {"worked", "SECONDS",
         "for how long the device has worked without a pause: the power limit then lowers the "
         "clock of busy tensor cores (default: 0)"}}});
}

CacheState parse_cache(std::string_view text) {
  return value_named("the cache state", text, kCacheStates);
}

LaunchMode parse_launch(std::string_view text) {
  return value_named("the launch", text, kLaunchModes);
}

DType parse_element_type(std::string_view text) {
  return value_named("the element type", text, kAllDTypes);
}

Assumptions read_assumptions(const Options& options) {
  Assumptions assumptions;
  if (const auto cache = options.find("cache")) assumptions.cache = parse_cache(*cache);
  if (const auto launch = options.find("launch")) assumptions.launch = parse_launch(*launch);
  if (const auto clock = options.find("sm-clock")) {
    assumptions.sm_clock_hz = expect_clock("--sm-clock", parse_real("--sm-clock", *clock));
  }
  if (const auto worked = options.find("worked")) {
    assumptions.worked_s = expect_worked("--worked", parse_real("--worked", *worked));
  }
  return assumptions;
}

}  // namespace roofcast::cli
