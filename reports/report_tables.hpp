#pragma once
// The tables of a report, as HTML.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "validation/comparison/compare.hpp"

namespace roofcast::reports {

/// How an absolute relative error reads: "good", "warn", "bad".
std::string_view tone(double absolute_error);

/// The measured median lies inside the forecast's [low, high].
bool in_interval(const validation::Row& row);

std::string summary_table(const std::vector<validation::Summary>& groups, std::string_view heading);

/// The rows of those indices; the page's script makes the table sortable.
std::string case_table(const validation::Comparison& comparison,
                       const std::vector<std::size_t>& rows, std::string_view id);

std::string failure_table(const std::vector<validation::Failure>& failures);

}  // namespace roofcast::reports
