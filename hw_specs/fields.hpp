#pragma once
// The table that maps leaves of a specification and a calibration to members of Gpu.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hw_specs/pointer.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// Builds the device from a checked specification, without sustained values.
Gpu to_gpu(const Json& specification);

/// Sets the sustained values that a checked calibration has, and their source.
void lay_over(const Json& overlay, Gpu& gpu);

/// The sustained values that are set, by pointer ("/sustained/sm_clock_hz").
std::map<std::string, double> sustained_values(const Sustained& sustained);

/// Pointers of the plain values ("/name"), of the quantities ("/memory/l2_bytes") and of the
/// calibrated quantities ("/sustained/sm_clock_hz"), in the order of the table.
const std::vector<std::string>& plain_leaves();
const std::vector<std::string>& quantity_leaves();
const std::vector<std::string>& sustained_leaves();

}  // namespace roofcast::specs
