#pragma once
#include <string>

#include "cli/output/terminal.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// A line for each part of the expected time, which add up to it, with what its resource would take
/// alone. What adds less than a thousandth and would take no time alone is left out.
std::string time_table(const Forecast& time, const Style& style);

}  // namespace roofcast::cli
