#pragma once
// Roofs and the points under them as text.
#include <string>
#include <vector>

#include "cli/output/terminal.hpp"
#include "reports/chart.hpp"

namespace roofcast::cli {

/// A column a device with its roofs and the ridges of DRAM; below it a row a point: intensity at
/// each level, forecast, interval, limit, and what was measured where anything was.
std::string roofline_text(const std::vector<reports::DevicePoints>& devices, const Style& style);

}  // namespace roofcast::cli
