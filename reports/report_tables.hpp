#pragma once
// The tables of a report, as HTML.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "validation/comparison/compare.hpp"

namespace roofcast::reports {

/// CSS class of an absolute relative error: "good" up to 10%, "warn" up to 25%, else "bad".
std::string_view tone(double absolute_error);

std::string summary_table(const std::vector<validation::Summary>& groups, std::string_view heading);

/// The cases of those indices. Columns without a value in any case are left out.
std::string case_table(const validation::Comparison& comparison,
                       const std::vector<std::size_t>& rows, std::string_view id);

std::string failure_table(const std::vector<validation::Failure>& failures);

}  // namespace roofcast::reports
