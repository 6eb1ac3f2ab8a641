#pragma once
// Curves and overlay of a calibration as text.
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/calibration/measurements.hpp"
#include "validation/calibration/overlay_file.hpp"

namespace roofcast::cli {

std::string curves_text(const validation::Measurements& measured, const Style& style);
std::string overlay_text(const validation::Overlay& overlay, const Style& style);

}  // namespace roofcast::cli
