#pragma once
#include <string>

#include "model/types/gpu.hpp"

namespace roofcast::specs {

/// Text for people: the source of the device's sustained values, its relative, or both.
std::string calibration_text(const Gpu& gpu);
/// The kind of calibration in a word or two: "measured", "published", "of h200-sxm", "none".
std::string calibration_word(const Gpu& gpu);

}  // namespace roofcast::specs
