#pragma once
#include <string>

#include "cli/input/condition.hpp"
#include "cli/input/value_search.hpp"
#include "cli/output/json_writer.hpp"

namespace roofcast::cli {

/// Where the condition holds, and what binds at the ends; where it never does, at the range's ends.
std::string solution_text(const Solution& solution, const Unknown& unknown,
                          const Condition& condition);
void write_json(JsonWriter& json, const Solution& solution, const Unknown& unknown,
                const Condition& condition);

}  // namespace roofcast::cli
