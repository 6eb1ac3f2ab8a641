#pragma once
#include <span>
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::cli {

std::string comparison_text(const validation::Comparison& comparison, const Style& style);
std::string comparison_json(std::span<const validation::Comparison> comparisons);
/// A row for each case, and for each failure.
std::string comparison_csv(std::span<const validation::Comparison> comparisons);

}  // namespace roofcast::cli
