#include <algorithm>

#include "cli/commands/collective.hpp"
#include "cli/commands/opening.hpp"
#include "cli/input/kernel_options.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/files.hpp"
#include "cli/output/kernel_json.hpp"
#include "cli/output/text_table.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::cli {

Manual manual_kernels() {
  return {
      .examples =
          "  roofcast kernels\n"
          "  roofcast kernels gemm.tiled\n"
          "  roofcast kernels gemm --format json\n",
      .usage = "roofcast kernels [NAME...] [options]",
      .about =
          R"(Lists the kernel families and their variants; with names, what each takes: parameters,
their meaning, default and range, and element types.)",
      .options = {{"format", "table|json", "output format (default: table)"},
                  {"help,h", "", "this text"}}};
}

namespace {

std::string dtype_list(const KernelRef& kernel) {
  std::string text;
  for (const DType type : kernel.dtypes()) {
    if (!text.empty()) text += ' ';
    text += name(type);
  }
  return text;
}

std::string list_text(const Style& style) {
  TextTable table({{"kernel"}, {"types"}, {"what it does"}});
  const auto add = [&table](const KernelFamily& family) {
    const KernelRef itself{&family, nullptr};
    table.add({std::string(family.name), dtype_list(itself), std::string(family.summary)}, true);
    for (const KernelModel& kernel : family.variants) {
      const KernelRef variant{&family, &kernel};
      table.add(
          {fmt::format("  {}", kernel.name), dtype_list(variant), std::string(kernel.summary)});
    }
  };
  for (const KernelFamily& family : catalog()) add(family);
  add(collective_family());
  return table.text(style);
}

std::string kernel_text(const KernelRef& kernel, const Style& style) {
  std::string text = fmt::format("{}  {}\n", style.heading(kernel.name()), summary(kernel));
  if (!kernel.dtypes().empty()) text += fmt::format("  types: {}\n", dtype_list(kernel));
  TextTable table({{"parameter"}, {"default", Align::right}, {"takes"}, {"meaning"}});
  for (const Parameter& parameter : kernel.parameters()) {
    table.add({fmt::format("--{}", parameter.name),
               parameter.fallback ? fallback_text(parameter) : "required", allowed_text(parameter),
               std::string(parameter.meaning)});
  }
  text += table.text(style, "  ");
  if (kernel.kernel != nullptr) return text;
  text += "  variants:\n";
  TextTable variants({{""}, {""}});
  for (const KernelModel& variant : kernel.family->variants) {
    variants.add({std::string(variant.name), std::string(variant.summary)});
  }
  return text + variants.text(style, "    ");
}

std::string kernels_json(std::span<const KernelRef> kernels) {
  return json_text([&](JsonWriter& json) {
    json.begin_array();
    for (const KernelRef& kernel : kernels) write_kernel(json, kernel);
    json.end_array();
    json.newline();
  });
}

}  // namespace

ExitCode run_kernels(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_kernels());
  const bool json = read_format(options, {"table", "json"}) == "json";

  std::vector<KernelRef> kernels;
  for (const std::string& word : words) {
    kernels.push_back(is_collective(word) ? collective_ref(word) : kernel_named(word));
  }
  const bool all = kernels.empty();
  if (all && json) {
    for (const KernelFamily& family : catalog()) kernels.push_back({&family, nullptr});
    kernels.push_back({&collective_family(), nullptr});
  }
  std::string text;
  const Style style = Style::of_standard_output();
  if (json) {
    text = kernels_json(kernels);
  } else if (all) {
    text = list_text(style);
  } else {
    for (const KernelRef& kernel : kernels) {
      if (!text.empty()) text += '\n';
      text += kernel_text(kernel, style);
    }
  }
  write_output(std::nullopt, text);
  return ExitCode::done;
}

}  // namespace roofcast::cli
