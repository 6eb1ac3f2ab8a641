#pragma once
// Roofs and the points under them as text.
#include <string>
#include <vector>

#include "cli/output/terminal.hpp"
#include "reports/chart.hpp"

namespace roofcast::cli {

/// A table of roofs and DRAM ridge points with a column for each device; below it a table with a
/// row for each point: intensity at each level, expected rate, limit, and the measured rate if any.
std::string roofline_text(const std::vector<reports::DevicePoints>& devices, const Style& style);

}  // namespace roofcast::cli
