#pragma once
#include <string>

#include "cli/input/condition.hpp"
#include "cli/input/value_search.hpp"
#include "cli/output/json_writer.hpp"

namespace roofcast::cli {

/// The spans where the condition holds with the forecasts at their ends; if it holds nowhere, the
/// forecasts at the ends of the range.
std::string solution_text(const Solution& solution, const Unknown& unknown,
                          const Condition& condition);
void write_json(JsonWriter& json, const Solution& solution, const Unknown& unknown,
                const Condition& condition);

}  // namespace roofcast::cli
