#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/files.hpp"
#include "cli/output/text_table.hpp"
#include "model/constants/laws.hpp"
#include "model/constants/libraries.hpp"
#include "model/constants/steps.hpp"

namespace roofcast::cli {

Manual manual_show() {
  return {
      .examples =
          "  roofcast show gemm.tiled\n"
          "  roofcast show h200-sxm\n"
          "  roofcast show constants\n",
      .usage = "roofcast show NAME [options of `kernels` or `gpus`]",
      .about =
          R"(Shows one kernel (as `roofcast kernels NAME`), one device (as `roofcast gpus NAME`), or
the laws' constants, each with its unit, meaning and source.)",
      .options = {{"help,h", "", "this text"}}};
}

namespace {

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

}  // namespace

ExitCode run_show(const Arguments& arguments) {
  const Manual manual = manual_show();
  const Arguments words =
      split_words(arguments,
                  with_device_options(joined({manual.options, {{"format", "FORMAT", ""}}})))
          .words;
  if (wants_help(arguments) || words.empty() || words.front() == "constants") {
    read_arguments(arguments, manual);
    if (words.empty()) throw UsageError("which kernel or GPU? For example: roofcast show gemm");
    if (words.size() > 1) throw UsageError("'{}' goes without '{}'", words[0], words[1]);
    write_output(std::nullopt, constants_text(Style::of_standard_output()));
    return ExitCode::done;
  }
  const std::string& name = words.front();
  std::vector<std::string_view> names = kernel_names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return run_kernels(arguments);
  const auto devices = device_names();
  names.insert(names.end(), devices.begin(), devices.end());
  const bool path = name.find('/') != std::string::npos || name.ends_with(".json");
  if (path || std::find(devices.begin(), devices.end(), name) != devices.end()) {
    return run_gpus(arguments);
  }
  throw UsageError(
      "no kernel and no GPU is named '{}'.{} `roofcast kernels` and `roofcast gpus` list them",
      name, did_you_mean(name, names));
}

}  // namespace roofcast::cli
