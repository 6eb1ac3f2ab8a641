#pragma once
#include <string>

#include "cli/output/terminal.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::cli {

/// A row for each part of the expected time, which add up to it, with the time of its resource
/// alone. Parts that add less than a thousandth and have no such resource are left out.
std::string time_table(const Forecast& time, const Style& style);

}  // namespace roofcast::cli
