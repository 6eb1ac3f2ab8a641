#pragma once
#include <optional>

#include "model/types/gpu.hpp"

namespace roofcast {

/// The highest SM clock the device allows: what limits are computed at.
std::optional<double> limit_clock_hz(const Gpu& gpu);

/// The SM clock a kernel is expected to run at: as calibrated, else the vector boost clock.
std::optional<double> expected_clock_hz(const Gpu& gpu);

}  // namespace roofcast
