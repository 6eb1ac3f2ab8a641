#pragma once
// Measurements faster than their limits, for people and for programs.
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/comparison/impossible.hpp"

namespace roofcast::cli {

/// What was checked, in words: the file, and what its limits take for granted about L2.
struct CheckedFile {
  std::string name;
  std::string place;  ///< what a place counts: "line", "row" or "case"
  std::string cache;  ///< "steady", or "of each case"
};

std::string check_text(const validation::TableCheck& check, const CheckedFile& file,
                       const Style& style);
std::string check_json(const validation::TableCheck& check, const CheckedFile& file);
/// The impossible rows and those without a limit.
std::string check_csv(const validation::TableCheck& check, const CheckedFile& file);

}  // namespace roofcast::cli
