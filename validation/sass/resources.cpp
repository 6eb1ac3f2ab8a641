#include "validation/sass/resources.hpp"

#include <algorithm>
#include <charconv>

#include "model/types/problem.hpp"
#include "validation/runs/numbers.hpp"
#include "validation/sass/header_lines.hpp"

namespace roofcast::sass {
namespace {

using validation::number_of;

std::int64_t* member(Resources& resources, std::string_view key) {
  if (key == "REG") return &resources.registers;
  if (key == "SHARED") return &resources.shared_bytes;
  if (key == "STACK") return &resources.stack_bytes;
  if (key == "LOCAL") return &resources.local_bytes;
  if (key == "CONSTANT[0]") return &resources.constant_bytes;
  return nullptr;
}

/// "REG:24 STACK:0 SHARED:5120 …"; other keys are skipped.
Resources values_of(std::string_view line, std::int64_t number) {
  Resources resources;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) continue;
    std::int64_t* value = member(resources, word.substr(0, colon));
    if (value == nullptr) continue;
    const auto read = number_of<std::int64_t>(word.substr(colon + 1));
    if (!read || *read < 0) {
      throw InputError("line " + std::to_string(number) + " of the disassembly: '" +
                       std::string(word.substr(0, 60)) + "' has no whole number");
    }
    *value = *read;
  }
  return resources;
}

/// The number in "sm_90a"; 0 for any other text.
int generation(std::string_view architecture) {
  int value = 0;
  if (!architecture.starts_with("sm_")) return 0;
  architecture.remove_prefix(3);
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), value);
  return value;
}

}  // namespace

std::int64_t own_shared_bytes(const Resources& resources, std::string_view architecture) {
  constexpr std::int64_t system_bytes = 1024;
  constexpr int first = 90;
  if (generation(architecture) < first) return resources.shared_bytes;
  return std::max<std::int64_t>(0, resources.shared_bytes - system_bytes);
}

void ResourceReader::line(std::string_view text) {
  ++lines_;
  if (is_binary_header(text)) {
    ++binaries_;
    symbol_.clear();
  } else if (after(text, "Function :")) {  // header of a listing
    symbol_.clear();
  } else if (auto name = after(text, "Function ")) {
    if (name->ends_with(':')) name->remove_suffix(1);
    symbol_ = *name;
  } else if (const auto values = after(text, "REG:")) {
    if (symbol_.empty()) {
      throw InputError("line " + std::to_string(lines_) +
                       " of the disassembly: resource usage of no function");
    }
    const std::int64_t binary = std::max<std::int64_t>(binaries_ - 1, 0);
    table_[{binary, symbol_}] = values_of("REG:" + std::string(*values), lines_);
  }
}

}  // namespace roofcast::sass
