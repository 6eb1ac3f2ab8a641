#pragma once
// Measurements that are faster than their limits as text, JSON and CSV.
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/comparison/impossible.hpp"

namespace roofcast::cli {

/// The checked file, and the state of L2 that its limits assume.
struct CheckedFile {
  std::string name;
  std::string place;  ///< unit of CheckedRow::place: "line", "row" or "case"
  std::string cache;  ///< "steady", or "of each case"
};

std::string check_text(const validation::TableCheck& check, const CheckedFile& file,
                       const Style& style);
std::string check_json(const validation::TableCheck& check, const CheckedFile& file);
/// A row for each impossible measurement and for each one without a limit.
std::string check_csv(const validation::TableCheck& check, const CheckedFile& file);

}  // namespace roofcast::cli
