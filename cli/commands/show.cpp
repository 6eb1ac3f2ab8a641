#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/files.hpp"
#include "cli/output/text_table.hpp"
#include "model/catalog.hpp"
#include "model/constants/laws.hpp"
#include "model/constants/libraries.hpp"
#include "model/constants/steps.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kShowHelp = {
    "  roofcast show gemm.tiled\n"
    "  roofcast show h200-sxm\n"
    "  roofcast show constants\n",
    "roofcast show NAME [options of `kernels` or `gpus`]",
    "Shows one kernel (as `roofcast kernels NAME`), one device (as `roofcast gpus NAME`), or the "
    "laws'\n"
    "constants, each with its unit, meaning and source."};

std::vector<Option> option_table() {
  return {{"help,h", "", "this text"}};
}

std::string constants_text(const Style& style) {
  TextTable table(
      {{"constant"}, {"value", Align::right}, {"unit"}, {"kind"}, {"meaning"}, {"source"}});
  const auto add = [&table](std::span<const Constant> constants) {
    for (const Constant& one : constants) {
      table.add({std::string(one.name), fmt::format("{}", one.value), std::string(one.unit),
                 std::string(name(one.kind)), std::string(one.meaning),
                 fmt::format("{} ({})", one.source, one.date)});
    }
  };
  add(law::kAll);
  add(library::kAll);
  add(transformer::constants::kAll);
  return table.text(style);
}

bool is_kernel(std::string_view name, std::vector<std::string_view>& known) {
  for (const KernelFamily& family : catalog()) {
    known.push_back(family.name);
    for (const KernelModel& kernel : family.variants) known.push_back(kernel.name);
  }
  return std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace

Manual manual_show() {
  return {kShowHelp, option_table()};
}

ExitCode run_show(const Arguments& arguments) {
  if (writes_help(arguments, kShowHelp, option_table())) return ExitCode::done;
  std::vector<Option> known = device_option_table();
  known.push_back({"format", "FORMAT", ""});
  const SplitArguments split = split_words(arguments, known);
  if (split.words.empty()) throw UsageError("which kernel or GPU? For example: roofcast show gemm");
  const std::string& name = split.words.front();
  if (name == "constants") {
    write_output(std::nullopt, constants_text(Style::of_standard_output()));
    return ExitCode::done;
  }
  std::vector<std::string_view> names;
  if (is_kernel(name, names)) return run_kernels(arguments);
  const auto devices = device_names();
  names.insert(names.end(), devices.begin(), devices.end());
  const bool path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (path || std::find(devices.begin(), devices.end(), name) != devices.end()) {
    return run_gpus(arguments);
  }
  throw UsageError(fmt::format(
      "no kernel and no GPU is named '{}'.{} `roofcast kernels` and `roofcast gpus` list them",
      name, did_you_mean(name, names)));
}

}  // namespace roofcast::cli
