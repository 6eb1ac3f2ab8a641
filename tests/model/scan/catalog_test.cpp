// A record of the catalog: what each kernel takes, where it is validated, and the registers of all
// that is compiled of it. As in forecasts_test.cpp, a recorded value is not thereby right.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/model/scan/questions.hpp"
#include "tests/model/scan/record.hpp"

namespace roofcast {
namespace {

std::string parameter_line(const KernelRef& kernel, const Parameter& parameter) {
  return std::string(kernel.kernel->name) + "," + std::string(parameter.name) + "," +
         std::to_string(parameter.minimum) + "," + std::to_string(parameter.maximum) + "," +
         (parameter.fallback ? std::to_string(*parameter.fallback) : "required");
}

std::string validated_line(const KernelRef& kernel) {
  const auto own = kernel.kernel->validated;
  std::string line = std::string(kernel.kernel->name) + ",validated";
  for (const ValidatedRange& range : own.empty() ? kernel.family->validated : own) {
    line += "," + std::string(kernel.kernel->parameters[range.parameter].name) + "," +
            std::to_string(range.from) + "," + std::to_string(range.to);
  }
  return line;
}

bool is_of_tile(const Parameter& parameter) {
  return parameter.name.substr(0, 5) == "tile_" || parameter.name.substr(0, 7) == "thread_";
}

// Powers of two and the default; two values of settings that select no other kernel. Tiles are at
// least 8 wide, and a thread has at most 16 of a side.
std::vector<std::int64_t> settings(const Parameter& parameter) {
  if (parameter.name == "split_rest") return {1, 2};
  for (const std::string_view name : {"rows_per_cluster", "stages", "split"}) {
    if (parameter.name == name) return {1, 8};
  }
  const bool is_tile = parameter.name.substr(0, 5) == "tile_";
  const bool is_thread = is_of_tile(parameter) && !is_tile;
  const std::int64_t least = std::max<std::int64_t>(parameter.minimum, is_tile ? 8 : 1);
  const std::int64_t most = std::min<std::int64_t>(parameter.maximum, is_thread ? 16 : 256);
  std::vector<std::int64_t> values = {*parameter.fallback};
  for (std::int64_t value = 1; value <= most; value *= 2) {
    if (value >= least) values.push_back(value);
  }
  return values;
}

// Every combination of powers of two of the settings; extents that fill vectors and tiles, and some
// that do not.
std::vector<Problem> configurations(const KernelRef& kernel, DType type) {
  const auto parameters = kernel.parameters();
  std::vector<Problem> found = {testing::templates(kernel).front().problem};
  found.front().dtype = type;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<std::int64_t> values;
    if (testing::is_extent(parameters[i])) {
      values = {4096};
      if (parameters[i].name == "k") values = {64, 65};
      if (parameters[i].name == "cols") {
        values = {30, 60, 100, 200, 500, 1000, 1001, 1024, 2048, 4096, 8192, 16384, 65536, 262144};
      }
    } else if (!parameters[i].choices.empty()) {
      values = testing::other_values(parameters[i]);
    } else if (parameters[i].configures &&
               parameters[i].name.find("reserved") == std::string_view::npos) {
      values = settings(parameters[i]);
    } else {
      continue;
    }
    std::vector<Problem> wider;
    for (Problem problem : found) {
      for (const std::int64_t value : values) {
        problem[i] = value;
        wider.push_back(problem);
      }
    }
    found = std::move(wider);
  }
  return found;
}

/// The tile of a kernel that is compiled for certain tiles, as "128x64x16x8x8="; else empty.
std::string tile_text(const KernelRef& kernel, const Problem& problem) {
  std::string text;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (is_of_tile(parameters[i])) text += (text.empty() ? "" : "x") + std::to_string(problem[i]);
  }
  return text.empty() ? text : text + "=";
}

// Registers of every kernel that a variant launches, each number (of each tile) once, in the order
// in which the configurations above come to it. What is only estimated is left out.
std::string registers_line(const KernelRef& kernel, DType type, const Gpu& gpu) {
  std::vector<std::string> seen;
  for (const Problem& problem : configurations(kernel, type)) {
    try {
      for (const Launched& node : kernel.kernel->plan(problem, gpu)) {
        if (node.plan.notes.caveat.find("registers are") != std::string_view::npos) continue;
        EXPECT_GT(node.plan.launch.registers, 0) << testing::text({kernel, problem});
        const std::string cell =
            tile_text(kernel, problem) + std::to_string(node.plan.launch.registers);
        if (std::find(seen.begin(), seen.end(), cell) == seen.end()) seen.push_back(cell);
      }
    } catch (const InputError&) {  // no such configuration
    }
  }
  std::string line = std::string(kernel.kernel->name) + "," + std::string(name(type));
  for (const std::string& cell : seen) line += "," + cell;
  return line;
}

TEST(Catalog, IsAsRecorded) {
  Gpu gpu;
  for (const Gpu& each : testing::gpus()) {
    if (each.name == "h200-sxm") gpu = each;
  }
  std::vector<std::string> lines = {"kernel,of,values"};
  for (const KernelRef& kernel : testing::all_variants()) {
    for (const Parameter& parameter : kernel.parameters()) {
      lines.push_back(parameter_line(kernel, parameter));
    }
    lines.push_back(validated_line(kernel));
    for (const DType type : kernel.dtypes()) lines.push_back(registers_line(kernel, type, gpu));
  }
  testing::expect_as_recorded("catalog.csv", lines);
}

}  // namespace
}  // namespace roofcast
