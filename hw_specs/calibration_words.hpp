#pragma once
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// Which calibration the device carries, for people: its source, its relative, or none.
std::string calibration_text(const Gpu& gpu);
/// The same in a word or two: "measured", "published", "of h200-sxm", "none".
std::string calibration_word(const Gpu& gpu);

}  // namespace roofcast::specs
